// Reads a Hugging Face config.json into a Model. Only shapes are read; runtime settings (dtype,
// rope scaling, sampling) are ignored. The text part of a multimodal model is read, and
// the parameters of its vision encoder are counted (hf_encoder.h).
#pragma once

#include <string_view>

#include "rankwright/base/result.h"
#include "rankwright/model/model.h"

namespace rankwright::importer {

inline constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 20;
inline constexpr int kMaxConfigDepth = 64;

/// Reads a config. `file_name` appears in diagnostics and names the model if the file does not.
/// Fails with RW0901 if the text is not JSON, too long or nested too deeply; with RW0903 or RW0904
/// if a value has the wrong type or is out of range; with RW0914 for an unknown model_type, an
/// unsupported setting or a missing key.
Result<model::Model> read_hf_config(std::string_view json_text, std::string_view file_name);

}  // namespace rankwright::importer
