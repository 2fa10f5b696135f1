// Explains the difference of an item between two plans from facts about both: the collective, its
// link, calls and bytes; stages and microbatches; shapes of matmuls. compare_facts.h lists the
// facts of each item; those that differ are the cause.
#pragma once

#include <vector>

#include "rankwright/planner/compare/compare_view.h"
#include "rankwright/planner/explain/explain_view.h"

namespace rankwright::planner {

/// One of the two plans.
struct ComparedPlan {
  const plan::TrainingConfig& config;
  const ExplainView& explain_view;
  double scale = 1;       // from one step to the basis of the comparison
  bool by_token = false;  // the basis is a million tokens
};

/// Returns up to three items that differ most, each by at least a tenth of the first. Items that
/// are a share of all others are left out if that share is equal.
std::vector<Cause> find_causes(const ComparedPlan& a, const ComparedPlan& b,
                               const std::vector<TimeRow>& rows);

}  // namespace rankwright::planner
