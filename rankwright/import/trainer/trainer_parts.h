// The parts of fine_tuning.cc: sharding (trainer_sharding.cc), number formats
// (trainer_precision.cc), adapters and frozen layers (trainer_adapters.cc), and methods of
// post-training with their sequences and further models (trainer_method.cc). Readers of single keys
// are rows of its table; those that finish a part run after the table. Scripts (trainer_script.cc)
// also have defaults of tools (trainer_defaults.cc) and programs (trainer_code.cc), and settings
// that no tool has (trainer_unread.cc).
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "rankwright/import/framework/recipes.h"

namespace rankwright::importer {

/// Returns the value at a path as text; empty if there is none.
std::string_view read_word(const ForeignReading& r, std::string_view path);

/// Reads whether a file trains adapters. Other ones than LoRA are estimated as LoRA, and reported.
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

/// Flags of the rank of adapters.
inline constexpr std::string_view kRankKeys[] = {"lora_rank", "lora_r", "peft_lora_r", "lora_dim"};

/// Returns whether a name has one of these parts.
inline bool has_part(std::string_view name, std::span<const std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

/// Returns whether a file has one of these keys.
template <std::size_t n>
bool has_any_key(const ForeignReading& r, const char* const (&keys)[n]) {
  return std::any_of(std::begin(keys), std::end(keys),
                     [&](const char* key) { return find_path(r.root, key) != nullptr; });
}

/// Returns whether a key names the trained model.
bool is_model_key(std::string_view key);
/// Returns whether the settings are those of ms-swift.
bool is_swift(const ForeignReading& r);
/// Returns whether a switch turns adapters on.
bool turns_adapters_on(const ForeignReading& r);

/// Reads LLaMA-Factory's method. Other programs have stages of other kinds by this name.
void read_stage(ForeignReading& r, const YamlNode& node);
/// Reads a switch of a program that trains on pairs.
void read_pairs_switch(ForeignReading& r, const YamlNode& node);
/// Reads a second model that the trainer holds.
void read_second_model(ForeignReading& r, const YamlNode& node);
/// Reads the sequence of prompts and completions, or of sources and targets, if the file states it
/// in parts.
void read_prompt_and_completion(ForeignReading& r, PlanFile& plan);
void read_other_length(ForeignReading& r, PlanFile& plan);
/// Decides the method and the sequence after the table, counts pairs twice, and names generation
/// and models that are not estimated.
void finish_method(ForeignReading& r, PlanFile& plan);

/// Reads how states are sharded and offloaded, and the data-parallel ranks. `launched` are the
/// settings of accelerate's launcher, if it starts the program.
void read_sharding(ForeignReading& r, const std::optional<Draft>& launched, PlanFile& plan);
/// Reads the format that the trainer computes in.
void read_trainer_precision(ForeignReading& r);
/// Decides the formats of the weights, gradients and optimizer states, after the adapters.
void finish_trainer_precision(ForeignReading& r);

/// Lifts the settings of sections ("model:", "training:") to the top, where the table has them.
void lift_sections(YamlNode& root);

/// Marks among the flags that are read from a program: it is TRL's, and it uses an argument that
/// transformers has since the releases that TRL 0.22 requires.
inline constexpr std::string_view kTrlMark = "(trl)", kNewMark = "(since trl 0.22)";
/// Marks that one process spreads the layers over the GPUs it sees (`device_map="auto"`).
inline constexpr std::string_view kSpreadMark = "(spread layers)";

/// Returns whether a script states a flag, with a value or without a known one.
bool has_key(const ScriptFlags& flags, std::string_view key);
/// Returns whether it states one of these flags.
bool states_any(const ScriptFlags& flags, std::span<const std::string_view> keys);
void add_key(ScriptFlags& flags, std::string_view key, std::string_view value);

/// Returns the name of a config, and that of its folder if the name states no method:
/// "dpo/config_full.yaml".
std::vector<std::string> list_name_parts(const std::string& path);
/// Adds the method and the adapters that the first of `names` with such a word states, and reports
/// each as assumed: "train_dpo.py", "trl dpo", "dpo/full.yaml". Adapters without a stated rank are
/// assumed only if the code of the program is not known.
void add_named_settings(ScriptFlags& flags, const std::vector<std::string>& names, bool code_known,
                        PlanFile& plan);
/// Adds the defaults of the tool that `command` runs. A program by the name of a tool's is one of
/// its own if its code is known: `own`.
void add_tool_defaults(ScriptFlags& flags, std::string_view command, bool own);
/// Adds the settings that the training program has in its code and no flag of the script decides:
/// adapters, arguments of the Trainer, defaults of options, the model and its format. They are
/// reported as assumed. Returns false if the program cannot be read.
bool add_code_settings(ScriptFlags& flags, const FileReader& files, PlanFile& plan);

/// Returns whether the code of a program constructs arguments of a trainer.
bool constructs_arguments(std::string_view code);

/// Names the settings that no tool has and that are not data (RW0618), those that speak of memory
/// or of time first, and further models (RW0601).
void report_unread_settings(ForeignReading& r, std::span<const ForeignKey> rows);

}  // namespace rankwright::importer
