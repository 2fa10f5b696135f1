// Describes which layers are on which pp rank, how even that is, and the most even split. The
// figures are FLOPs (formula W1), not times. report/explain/stages_text.h presents it.
#pragma once

#include <optional>
#include <string>

#include "rankwright/plan/plan.h"
#include "rankwright/split/split.h"
#include "rankwright/split/text.h"

namespace rankwright::planner {

/// The stages of a plan and better splits.
struct StagesView {
  plan::Stages now{};
  std::vector<Flops> work{};  // by pp rank: forward FLOPs per token
  double imbalance = 0;       // busiest pp rank over the mean
  split::Split best{};
  double best_imbalance = 0;
  std::optional<split::TitanSplit>
      titan{};  // the most even split that torchtitan's settings can express
  double titan_imbalance = 0;
};

/// Describes the stages of a plan. Requires: a config without constraint violations.
StagesView make_stages_view(const plan::TrainingConfig& config);

/// Returns what a pp rank holds besides layers: "embedding", "2 MTP modules, head and loss".
std::string describe_edges(const plan::RankContents& on_rank);

}  // namespace rankwright::planner
