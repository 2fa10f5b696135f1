// The default output of `plan`, one screen: the layout, its step and memory, the best alternatives
// and the next command. plan_text.h has everything else that a search found out (--verbose).
#pragma once

#include <string>

#include "rankwright/planner/plan/plan_answer.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// Writes the answer on one screen. `saved` is the file that the plan was written to; empty if
/// none. Requires: the search found a plan.
std::string render_plan_screen(const planner::PlanAnswer& view, const Paint& paint,
                               std::size_t width, const std::string& saved);

/// Writes the layout, its step time and its memory in one line (--quiet). Requires: the search
/// found a plan.
std::string render_plan_line(const planner::PlanAnswer& view);

/// Lists the best plan and the fastest of each other choice of degrees, ZeRO and recomputation
/// (--top). Requires: the search found a plan.
std::string render_top_plans(const planner::PlanAnswer& view, const Paint& paint,
                             std::size_t width);

}  // namespace rankwright::report
