// Draws which collective crosses which links: one row per collective, one column per level, and in
// each cell the calls, bytes, time and number of groups that share a link. Darker cells take
// longer.
#pragma once

#include <string>

#include "rankwright/report/page/report_view.h"

namespace rankwright::report {

std::string draw_communication_svg(const planner::PlanReport& report);

}  // namespace rankwright::report
