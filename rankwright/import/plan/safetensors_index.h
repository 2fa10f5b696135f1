// Reads how many bytes the weights of a Hugging Face model have, from the index of its safetensors
// files (model.safetensors.index.json), and holds them against the shapes of its config.
#pragma once

#include <optional>
#include <string_view>

#include "rankwright/base/result.h"
#include "rankwright/base/units.h"
#include "rankwright/model/model.h"

namespace rankwright::importer {

bool claims_safetensors_index(std::string_view file, std::string_view text);
/// A config.json: an object with a model_type.
bool claims_hf_config(std::string_view file, std::string_view text);

/// metadata.total_size. RW0901 where the text is no JSON, RW0912 where it is not stated.
Result<Bytes> read_safetensors_size(std::string_view text, std::string_view file);

/// RW0605 where `size` is not that of the model's parameters in the dtype of the config; nothing
/// where it is. Configs of quantised weights mix dtypes, and are a note.
std::optional<Diagnostic> check_size(const model::Model& model, std::string_view config_text,
                                     Bytes size, std::string_view index_file);

}  // namespace rankwright::importer
