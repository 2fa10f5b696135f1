// The time of a step as a waterfall: one bar an item, each beginning where the one before ends, so
// that the last ends with the step; what computes dark, what waits light.
#pragma once

#include <string>

#include "rankwright/report/page/report_view.h"

namespace rankwright::report {

std::string step_svg(const planner::PlanReport& report);

}  // namespace rankwright::report
