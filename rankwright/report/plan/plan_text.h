// The answer of `plan` as text for a terminal or as Markdown for a design document. The output is
// deterministic.
#pragma once

#include <string>

#include "rankwright/planner/plan/plan_answer.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// Lays out an answer that has a best plan. `saved` is the file that the plan was written to, if
/// any.
std::string render_plan_text(const planner::PlanAnswer& view, const Paint& paint, std::size_t width,
                             const std::string& saved = {});
/// Lays out any answer, with or without a best plan.
std::string render_answer_text(const planner::PlanAnswer& view, const Paint& paint,
                               std::size_t width, const std::string& saved = {});
/// Writes the answer as Markdown. Requires: it has a best plan.
std::string render_plan_markdown(const planner::PlanAnswer& view);

/// Lays out an answer without a best plan: nothing fits, or the search was stopped too early.
std::string render_no_plan_text(const planner::PlanAnswer& view, const Paint& paint,
                                std::size_t width);

}  // namespace rankwright::report
