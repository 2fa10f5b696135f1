// What is behind the difference of an item between two plans, from facts about both: which
// collective, its link, calls and bytes; stages and microbatches; shapes of matmuls. One row an
// item, which lists its facts; what is not the same in both is the cause.
#pragma once

#include <vector>

#include "rankwright/planner/compare/compare_view.h"
#include "rankwright/planner/explain/explain_view.h"

namespace rankwright::planner {

/// One of the two plans.
struct Compared {
  const plan::TrainingConfig& config;
  const ExplainView& sheet;
  double scale = 1;       // from a step to what is compared
  bool by_token = false;  // which is a million tokens
};

/// The three items that differ most, if they explain a tenth of what the first does; items that are
/// a share of all others are left out where that share is the same.
std::vector<Cause> causes(const Compared& a, const Compared& b, const std::vector<TimeRow>& rows);

}  // namespace rankwright::planner
