// Reads the size of a Hugging Face model's weights from the index of its safetensors files
// (model.safetensors.index.json) and compares it with the shapes in its config.
#pragma once

#include <optional>
#include <string_view>

#include "rankwright/base/result.h"
#include "rankwright/base/units.h"
#include "rankwright/model/model.h"

namespace rankwright::importer {

bool claims_safetensors_index(std::string_view file, std::string_view text);
/// Returns whether the file is a config.json: an object with a model_type.
bool claims_hf_config(std::string_view file, std::string_view text);

/// Returns metadata.total_size. Fails with RW0901 if the text is not JSON, with RW0912 if the size
/// is missing.
Result<Bytes> read_safetensors_size(std::string_view text, std::string_view file);

/// Returns RW0605 if `size` is not that of the model's parameters in the dtype of the config. For
/// configs of quantized weights, which mix dtypes, the finding is a note.
std::optional<Diagnostic> check_size(const model::Model& model, std::string_view config_text,
                                     Bytes size, std::string_view index_file);

}  // namespace rankwright::importer
