// Which constants of the cost model the figures of a plan depend on, and which would change the
// faster of two plans. How it looks is report/explain/sensitivity_text.h.
#pragma once

#include <vector>

#include "rankwright/cost/sensitivity.h"

namespace rankwright {

struct SensitivityView {
  Estimate now{};
  std::vector<Sensitivity> constants{};  // all that move something, largest first
};

/// Requires: the config has no violation.
SensitivityView sensitivity_view(const TrainingConfig& config);

/// Two plans under the constants of the first.
struct RivalsView {
  Estimate first{}, second{};
  Comparison comparison{};
};

/// Requires: neither config has a violation.
RivalsView rivals_view(const TrainingConfig& first, const TrainingConfig& second);

}  // namespace rankwright
