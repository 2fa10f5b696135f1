// Shows which constants of the cost model a plan's figures depend on, as bars and as JSON: the
// twelve with the largest effect, the step time at either end, and which of them would change the
// verdict or, for two plans, the winner.
#pragma once

#include <string>

#include "rankwright/planner/explain/sensitivity_view.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

std::string render_sensitivity_text(const plan::TrainingConfig& config,
                                    const planner::SensitivityView& view, const Paint& paint,
                                    std::size_t width);
std::string make_sensitivity_json(const plan::TrainingConfig& config,
                                  const planner::SensitivityView& view);

/// One of two compared plans, with its name.
struct RivalPlan {
  std::string name;
  const plan::TrainingConfig& config;
};
std::string render_rivals_text(const RivalPlan& first, const RivalPlan& second,
                               const planner::RivalsView& view, const Paint& paint,
                               std::size_t width);
std::string make_rivals_json(const RivalPlan& first, const RivalPlan& second,
                             const planner::RivalsView& view);

}  // namespace rankwright::report
