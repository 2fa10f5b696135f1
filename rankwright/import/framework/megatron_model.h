// The model that Megatron-LM's flags describe, and how their pipeline flags split it. The degrees
// are megatron.cc. Not for other includers.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "rankwright/import/framework/foreign.h"

namespace rankwright::importer {

/// Flags that state the model, for a table of keys.
std::span<const std::string_view> megatron_model_flags();

/// Builds draft.model from the flags; a vocabulary that only the tokenizer knows is assumed, and
/// said to be. Nothing where the shapes are not there.
void read_megatron_model(ForeignReading& reading);

/// Virtual stages and the layers of each stage, as Megatron-LM would run them: where it would drop
/// layers the stages hold fewer than the model has.
void read_megatron_stages(ForeignReading& reading);

/// "([0]*3+[1]*58)": which layers have experts, one by one; a number n is every n-th from the first
/// on. Nothing where it is no such expression or longer than a model may be.
std::optional<std::vector<bool>> parse_layer_pattern(std::string_view text, i64 layers);

/// Whether a switch is on.
bool is_on(const ForeignReading& reading, std::string_view flag);

}  // namespace rankwright::importer
