// Which collective crosses which links: a row a collective, a column a level, and where they meet
// how often, how much, how long and beside how many others; the deeper the colour, the longer.
#pragma once

#include <string>

#include "rankwright/report/page/report_view.h"

namespace rankwright::report {

std::string communication_svg(const planner::PlanReport& report);

}  // namespace rankwright::report
