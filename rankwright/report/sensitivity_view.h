// Which constants of the cost model a plan's figures hang on, as bars and as JSON: the first dozen,
// what the step is at either end, and which would change the verdict or, of two plans, the winner.
#pragma once

#include <string>
#include <vector>

#include "rankwright/cost/sensitivity.h"
#include "rankwright/report/paint.h"

namespace rankwright {

struct SensitivityView {
  Estimate now{};
  std::vector<Sensitivity> constants{};  // all that move something, largest first
};

/// The setup has no misfit.
SensitivityView sensitivity_view(const Setup& setup);

std::string sensitivity_text(const Setup& setup, const SensitivityView& view, const Paint& paint,
                             std::size_t width);
std::string sensitivity_json(const Setup& setup, const SensitivityView& view);

/// Of two plans, the first against the second, each with its name.
struct RivalPlan {
  std::string name;
  const Setup& setup;
};
std::string comparison_text(const RivalPlan& first, const RivalPlan& second,
                            const Comparison& comparison, const Paint& paint, std::size_t width);
std::string comparison_json(const RivalPlan& first, const RivalPlan& second,
                            const Comparison& comparison);

}  // namespace rankwright
