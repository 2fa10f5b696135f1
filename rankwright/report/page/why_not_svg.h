// Draws a plan among its alternatives: memory to the right, step time upwards, a line at the
// device's memory, and the Pareto front of the plans that fit.
#pragma once

#include <string>

#include "rankwright/report/plan/plan_points.h"

namespace rankwright::report {

/// Draws the report's plan among these points. Requires: the report has a search.
std::string draw_why_not_svg(const planner::PlanReport& report, const PlanPoints& points);
/// Draws it among all points of its search. Requires: the report has a search.
std::string draw_why_not_svg(const planner::PlanReport& report);

}  // namespace rankwright::report
