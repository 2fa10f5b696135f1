// Reads what single Hugging Face families state in a way of their own, after their keys: one
// function per family, for its row in hf_families.cc.
#pragma once

#include "rankwright/import/plan/hf_families.h"

namespace rankwright::importer {

using FinishFault = std::optional<HfFault>;

// Each function completes the shapes, and returns the key whose value is not supported, if any.

FinishFault finish_bigcode(const nlohmann::json& json, model::Shapes& shapes);
FinishFault finish_falcon(const nlohmann::json& json, model::Shapes& shapes);
FinishFault finish_opt(const nlohmann::json& json, model::Shapes& shapes);
FinishFault finish_mpt(const nlohmann::json& json, model::Shapes& shapes);
FinishFault finish_stablelm(const nlohmann::json& json, model::Shapes& shapes);
FinishFault finish_minimax(const nlohmann::json& json, model::Shapes& shapes);
FinishFault finish_bamba(const nlohmann::json& json, model::Shapes& shapes);
FinishFault finish_granite_hybrid(const nlohmann::json& json, model::Shapes& shapes);
FinishFault finish_llama4(const nlohmann::json& json, model::Shapes& shapes);
FinishFault finish_ernie_moe(const nlohmann::json& json, model::Shapes& shapes);
FinishFault finish_gpt_neo(const nlohmann::json& json, model::Shapes& shapes);

}  // namespace rankwright::importer
