// Which constants of the cost model a plan's figures depend on, as bars and as JSON: the first
// dozen, the step at either end, and which would change the verdict or, of two plans, the winner.
#pragma once

#include <string>

#include "rankwright/planner/explain/sensitivity_view.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

std::string sensitivity_text(const plan::TrainingConfig& config,
                             const planner::SensitivityView& view, const Paint& paint,
                             std::size_t width);
std::string sensitivity_json(const plan::TrainingConfig& config,
                             const planner::SensitivityView& view);

/// One of two plans with its name.
struct RivalPlan {
  std::string name;
  const plan::TrainingConfig& config;
};
std::string rivals_text(const RivalPlan& first, const RivalPlan& second,
                        const planner::RivalsView& view, const Paint& paint, std::size_t width);
std::string rivals_json(const RivalPlan& first, const RivalPlan& second,
                        const planner::RivalsView& view);

}  // namespace rankwright::report
