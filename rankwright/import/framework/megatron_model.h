// Derives the model from Megatron-LM's flags, and its split into stages from the pipeline flags.
// The degrees are read in megatron.cc. Private to the Megatron-LM reader.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "rankwright/import/framework/foreign.h"

namespace rankwright::importer {

/// Returns the flags that describe the model.
std::span<const std::string_view> megatron_model_flags();

/// Builds draft.model from the flags, or leaves it empty if shapes are missing. Assumes and reports
/// a vocabulary size that only the tokenizer states.
void read_megatron_model(ForeignReading& reading);

/// Applies the layers, the MTP modules and the untied output head that a script states to a model
/// that it names. Other sizes that it states are reported as left out.
void override_shapes(ForeignReading& reading);

/// Sets the virtual stages and the layers per stage as Megatron-LM would run them: where it would
/// drop layers, the stages hold fewer than the model has.
void read_megatron_stages(ForeignReading& reading);

/// Parses which layers have experts: a list such as "([0]*3+[1]*58)", or a number n for every n-th
/// layer from the first on. Returns nothing for any other text, or if the list is longer than
/// `layers`.
std::optional<std::vector<bool>> parse_layer_pattern(std::string_view text, i64 layers);

/// Returns the numbers of MindSpeed's empty layers ("0,31"), which --num-layers counts. They fill
/// up stages with fewer layers.
std::vector<i64> read_noop_layers(ForeignReading& reading);

/// Returns whether a switch is on.
bool is_on(const ForeignReading& reading, std::string_view flag);

}  // namespace rankwright::importer
