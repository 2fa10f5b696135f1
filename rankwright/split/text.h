// A stage split in torchtitan's words, where it has words for it. Megatron-LM's layout and the list
// of layers are in stages.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/plan/stages.h"

namespace rankwright::split {

/// torchtitan's settings: the embedding counts as `first_less` layers of the first stage, norm and
/// output as `last_less` of the last.
struct TitanSplit {
  i64 first_less = 1;  // pipeline_parallel_first_stage_less_layers
  i64 last_less = 1;   // pipeline_parallel_last_stage_less_layers
  /// pipeline_parallel_layers_per_stage, which is how torchtitan is told a number of stages. Where
  /// nothing gives this number it must be left out: then there is one stage a pp rank, or two with
  /// the schedules of more.
  std::optional<i64> layers_per_stage{};

  friend bool operator==(const TitanSplit&, const TitanSplit&) = default;
};

/// Layers by stage as torchtitan v0.2.2 cuts them (formula SP5;
/// torchtitan/distributed/pipeline_parallel.py, generate_llm_fqn_per_model_part); nothing where it
/// refuses.
std::optional<std::vector<i64>> titan_layers(i64 layers, i64 stages, i64 first_less, i64 last_less);

/// The settings that cut just so: its defaults where they do, else the smallest. Nothing where none
/// do; MTP modules have no place in it.
std::optional<TitanSplit> titan_split(const plan::Stages& stages);

/// As in the file: "pipeline_parallel_first_stage_less_layers = 1" and so on, a line each.
std::string show(const TitanSplit& split);

}  // namespace rankwright::split
