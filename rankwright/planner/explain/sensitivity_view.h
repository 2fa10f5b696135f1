// Finds the cost-model constants that the figures of a plan depend on, and those that would change
// which of two plans is faster. report/explain/sensitivity_text.h presents it.
#pragma once

#include <vector>

#include "rankwright/cost/sensitivity.h"

namespace rankwright::planner {

/// The sensitivity of one plan's estimate.
struct SensitivityView {
  cost::Estimate now{};
  std::vector<cost::Sensitivity> constants{};  // all that have an effect, the largest first
};

/// Computes the sensitivity of a plan. Requires: a config without constraint violations.
SensitivityView make_sensitivity_view(const plan::TrainingConfig& config);

/// Two plans, compared with the constants of the first.
struct RivalsView {
  cost::Estimate first{}, second{};
  cost::Comparison comparison{};
};

/// Compares two plans. Requires: configs without constraint violations.
RivalsView make_rivals_view(const plan::TrainingConfig& first, const plan::TrainingConfig& second);

}  // namespace rankwright::planner
