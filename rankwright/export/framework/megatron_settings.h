// A plan as Megatron-LM's settings, one row per flag. The exporter for Megatron-LM writes them as
// flags, the one for Megatron-Bridge as fields of a configuration.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/export/exporter.h"
#include "rankwright/plan/plan.h"

namespace rankwright::exporter {

/// One flag and its value.
struct MegatronSetting {
  std::string_view flag;  // without "--"
  std::string value{};    // empty: a switch that is on
  bool words = false;     // the value is several plain words, each an argument of its own
};

/// Returns the settings that the layout and the job decide. Works for any config: incompatible
/// settings are written as they are.
std::vector<MegatronSetting> list_megatron_layout(const plan::TrainingConfig& config);

/// Returns the model's shapes. Empty if no model is given, or if the flags would build a different
/// network.
std::vector<MegatronSetting> list_megatron_model(const plan::TrainingConfig& config);

/// Returns the recipe of fp8 matmuls: delayed scaling, or current scaling if norms or the
/// activation functions of experts are recomputed, which Megatron-LM refuses with delayed scaling.
std::string_view choose_fp8_recipe(const plan::Plan& plan);

/// Returns "--num-layers 32", with the value quoted for a shell where necessary.
std::string format_flag(const MegatronSetting& setting);

/// Returns the plan keys that the settings state or imply.
std::span<const std::string_view> list_megatron_keys();

/// Returns the settings of the plan that Megatron-LM's flags cannot express.
std::vector<UnsupportedSetting> find_unsupported_by_megatron(const plan::TrainingConfig& config);

}  // namespace rankwright::exporter
