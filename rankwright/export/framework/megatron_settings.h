// A plan as Megatron-LM's settings, one row a flag: what both of its back ends write, the one as
// flags and the other as fields of a configuration.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/export/exporter.h"
#include "rankwright/plan/plan.h"

namespace rankwright::exporter {

struct MegatronSetting {
  std::string_view flag;  // without "--"
  std::string value{};    // empty: a switch that is on
};

/// What the layout and the job decide. Made for any config: what does not go together is written as
/// it stands.
std::vector<MegatronSetting> megatron_layout(const plan::TrainingConfig& config);

/// The model's shapes; nothing where the flags would make another network of them, or no model is
/// given.
std::vector<MegatronSetting> megatron_model(const plan::TrainingConfig& config);

/// "--num-layers 32", quoted where a shell would read it otherwise.
std::string as_flag(const MegatronSetting& setting);

}  // namespace rankwright::exporter
