// Reads a Hugging Face config.json into a Model. Only shapes are taken; what says how to run the
// model (dtype, rope scaling, sampling) is passed over. Of a multimodal model the text part is
// read.
#pragma once

#include <string_view>

#include "rankwright/base/result.h"
#include "rankwright/model/model.h"

namespace rankwright::importer {

inline constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 20;
inline constexpr int kMaxConfigDepth = 64;

/// `file_name` is named in diagnostics, and names the model where the file does not.
/// RW0901 no JSON, too long or too deep; RW0903, RW0904 a value of the wrong type or out of range;
/// RW0914 a model_type or a setting that is not understood, or a key that is missing.
Result<model::Model> read_hf_config(std::string_view json_text, std::string_view file_name);

}  // namespace rankwright::importer
