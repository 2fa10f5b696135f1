// The parts of fine_tuning.cc: adapters and frozen layers (trainer_adapters.cc), and methods of
// post-training with their sequences and further models (trainer_method.cc). Readers of single keys
// are rows of its table; those that finish a part run after the table.
#pragma once

#include <string_view>

#include "rankwright/import/framework/recipes.h"

namespace rankwright::importer {

/// Returns the value at a path as text; empty if there is none.
std::string_view read_word(const ForeignReading& r, std::string_view path);

/// Reads whether a file trains adapters. Other methods than LoRA are refused by name.
void read_adapter(ForeignReading& r, const YamlNode& node);
/// Reads the switch of LLaVA and its descendants, whose rank is 64 unless stated.
void read_llava_adapter(ForeignReading& r, const YamlNode& node);
/// Reads a switch of QLoRA.
void read_qlora(ForeignReading& r, const YamlNode& node);
/// Reads the bits of frozen weights.
void read_quantization_bit(ForeignReading& r, const YamlNode& node);
void read_lora_linear(ForeignReading& r, const YamlNode& node);
/// Reads the layers that Chinese-LLaMA-Alpaca's programs adapt: "q_proj,v_proj".
void read_trainable(ForeignReading& r, const YamlNode& node);
/// Reads the name of a model, which may be that of a quantized checkpoint.
void read_trainer_model(ForeignReading& r, const YamlNode& node);
/// As above; ms-swift's `model_name` is what the model is taught to call itself.
void read_model_name(ForeignReading& r, const YamlNode& node);
/// Decides whether adapters are trained, and drops their details from a file that trains every
/// parameter.
void finish_adapter(ForeignReading& r, PlanFile& plan);
/// Reads LLaMA-Factory's frozen layers.
void finish_freeze(ForeignReading& r);

/// Reads a second model that the trainer holds.
void read_second_model(ForeignReading& r, const YamlNode& node);
/// Reads the sequence of prompts and completions, or of sources and targets, if the file states it
/// in parts.
void read_prompt_and_completion(ForeignReading& r, PlanFile& plan);
void read_other_length(ForeignReading& r, PlanFile& plan);
/// Decides the method after the table, counts pairs twice, and names generation and models that are
/// not estimated.
void finish_method(ForeignReading& r);

}  // namespace rankwright::importer
