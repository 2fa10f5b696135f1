// Draws the time of a step as a waterfall: one bar per item, each starting where the previous one
// ends. Bars that compute are dark, bars that wait are light.
#pragma once

#include <string>

#include "rankwright/report/page/report_view.h"

namespace rankwright::report {

std::string draw_step_svg(const planner::PlanReport& report);

}  // namespace rankwright::report
