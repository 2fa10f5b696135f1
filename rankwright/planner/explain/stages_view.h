// Which layers are on which pp rank, how even that is, and the most even split there is. The
// figures are FLOPs (formula W1), not times. How it looks is report/explain/stages_text.h.
#pragma once

#include <optional>
#include <string>

#include "rankwright/plan/plan.h"
#include "rankwright/split/split.h"
#include "rankwright/split/text.h"

namespace rankwright::planner {

struct StagesView {
  plan::Stages now{};
  std::vector<Flops> work{};  // by pp rank, one token forward
  double imbalance = 0;       // of the busiest pp rank over the mean
  split::Split best{};
  double best_imbalance = 0;
  std::optional<split::TitanSplit> titan{};  // the most even that torchtitan can say
  double titan_imbalance = 0;
};

/// The config has no violations.
StagesView stages_view(const plan::TrainingConfig& config);

/// "embedding", "2 MTP modules, head and loss": what a pp rank holds besides layers.
std::string besides(const plan::RankContents& on_rank);

}  // namespace rankwright::planner
