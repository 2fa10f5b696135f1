// Which constants of the cost model the figures of a plan depend on, and which would change the
// faster of two plans. How it looks is report/sensitivity_text.h.
#pragma once

#include <vector>

#include "rankwright/cost/sensitivity.h"

namespace rankwright {

struct SensitivityView {
  Estimate now{};
  std::vector<Sensitivity> constants{};  // all that move something, largest first
};

/// Requires: the setup has no misfit.
SensitivityView sensitivity_view(const Setup& setup);

/// Two plans under the constants of the first.
struct RivalsView {
  Estimate first{}, second{};
  Comparison comparison{};
};

/// Requires: neither setup has a misfit.
RivalsView rivals_view(const Setup& first, const Setup& second);

}  // namespace rankwright
