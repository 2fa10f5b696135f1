// Expresses a stage split in torchtitan's settings, if possible. stages.h has Megatron-LM's layout
// and the list of layers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/plan/stages.h"

namespace rankwright::split {

/// torchtitan's settings: the embedding counts as `first_less` layers of the first stage, norm and
/// output as `last_less` layers of the last.
struct TitanSplit {
  i64 first_less = 1;  // pipeline_parallel_first_stage_less_layers
  i64 last_less = 1;   // pipeline_parallel_last_stage_less_layers
  /// pipeline_parallel_layers_per_stage, which determines torchtitan's number of stages. Empty if
  /// no value yields this number of stages; then the setting must be omitted, and torchtitan makes
  /// one stage per pp rank, or two with multi-stage schedules.
  std::optional<i64> layers_per_stage{};

  friend bool operator==(const TitanSplit&, const TitanSplit&) = default;
};

/// Returns the layers per stage as torchtitan v0.2.2 splits them (formula SP5;
/// torchtitan/distributed/pipeline_parallel.py, generate_llm_fqn_per_model_part); nothing if it
/// rejects the settings.
std::optional<std::vector<i64>> compute_titan_layers(i64 layers, i64 stages, i64 first_less,
                                                     i64 last_less);

/// Returns the settings that produce exactly these stages: torchtitan's defaults if possible,
/// otherwise the smallest. Returns nothing if none do, or if there are MTP modules.
std::optional<TitanSplit> find_titan_split(const plan::Stages& stages);

/// Formats the settings as in torchtitan's file, one per line:
/// "pipeline_parallel_first_stage_less_layers = 1".
std::string show(const TitanSplit& split);

}  // namespace rankwright::split
