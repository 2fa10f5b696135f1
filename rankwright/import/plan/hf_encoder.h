// Counts the parameters of the vision or audio encoder of a multimodal Hugging Face config, with
// its projector (P9), and reads its shapes. The text part is read by hf_config.cc.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "rankwright/base/integer.h"
#include "rankwright/model/model.h"

namespace rankwright::importer {

/// The encoder of a config.
struct HfEncoder {
  i64 parameters = 0;  // 0 if the kind of encoder is not known
  i64 layers = 0;      // 0 if the config has no encoder
  model::Encoder shape{};
  std::string_view part{};  // the object of the config that states it
  std::string fault{};      // the key whose value is not supported; empty if there is none
};

/// Counts the encoder of a whole config whose text part has this hidden size.
HfEncoder read_hf_encoder(const nlohmann::json& config, i64 hidden);

/// Returns the text model_type of a config that states its text part beside vision_config, such as
/// qwen2 for qwen2_vl; `type` itself for others.
std::string_view find_text_type(std::string_view type);

/// Returns whether the output head shares the embedding's weight, if the top of a multimodal config
/// decides that in transformers; nothing if its text part does.
std::optional<bool> find_tied_at_top(const nlohmann::json& config);

}  // namespace rankwright::importer
