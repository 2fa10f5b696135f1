// Which constants of the cost model the figures of a plan depend on, and which would change the
// faster of two plans. How it looks is report/explain/sensitivity_text.h.
#pragma once

#include <vector>

#include "rankwright/cost/sensitivity.h"

namespace rankwright::planner {

struct SensitivityView {
  cost::Estimate now{};
  std::vector<cost::Sensitivity> constants{};  // all that move something, largest first
};

/// Requires: the config has no violation.
SensitivityView sensitivity_view(const plan::TrainingConfig& config);

/// Two plans under the constants of the first.
struct RivalsView {
  cost::Estimate first{}, second{};
  cost::Comparison comparison{};
};

/// Requires: neither config has a violation.
RivalsView rivals_view(const plan::TrainingConfig& first, const plan::TrainingConfig& second);

}  // namespace rankwright::planner
