// A plan among those that might be chosen instead: memory to the right, time upwards, the device's
// limit between what fits and what does not, and a line along the plans that no other beats in
// both.
#pragma once

#include <string>

#include "rankwright/report/plan/plan_points.h"

namespace rankwright::report {

/// Draws the plan of a report among these points. Requires: the report has a search.
std::string why_not_svg(const planner::PlanReport& report, const PlanPoints& points);
/// Draws it among all points of its search.
std::string why_not_svg(const planner::PlanReport& report);

}  // namespace rankwright::report
