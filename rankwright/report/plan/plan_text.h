// What `plan` found, for people: on a terminal, or as Markdown for a design document. Same view,
// same bytes.
#pragma once

#include <string>

#include "rankwright/planner/plan/plan_answer.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// Lays out an answer that has a best plan. `saved` is the file that the plan was written to.
std::string plan_text(const planner::PlanAnswer& view, const Paint& paint, std::size_t width,
                      const std::string& saved = {});
/// The same for any answer.
std::string answer_text(const planner::PlanAnswer& view, const Paint& paint, std::size_t width,
                        const std::string& saved = {});
std::string plan_markdown(const planner::PlanAnswer& view);

/// Lays out an answer without a best plan: nothing fits, or the search was stopped before.
std::string no_plan_text(const planner::PlanAnswer& view, const Paint& paint, std::size_t width);

}  // namespace rankwright::report
