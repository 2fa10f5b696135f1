// The answer of `plan` as text for a terminal or as Markdown for a design document. The output is
// deterministic.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/planner/plan/plan_answer.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// A text and the label beside it.
struct LabeledText {
  std::string_view label;
  std::string text;
};
/// Answers what the request asked for besides the plan: the user's own plan, the fewest GPUs,
/// excluded hosts, the training run. Texts of what was not asked for are empty.
std::vector<LabeledText> list_requested_answers(const planner::PlanAnswer& view);

/// Returns the requested target, otherwise the first framework that runs the plan; null if there
/// is none.
const rules::TargetRow* find_named_target(const planner::PlanAnswer& view);

/// Lays out everything about an answer that has a best plan (--verbose). `saved` is the file that
/// the plan was written to, if any.
std::string render_plan_text(const planner::PlanAnswer& view, const Paint& paint, std::size_t width,
                             const std::string& saved = {});
/// Lays out any answer on one screen, with or without a best plan.
std::string render_answer_text(const planner::PlanAnswer& view, const Paint& paint,
                               std::size_t width, const std::string& saved = {});
/// Writes the answer as Markdown. Requires: it has a best plan.
std::string render_plan_markdown(const planner::PlanAnswer& view);

/// Lays out an answer without a best plan: nothing fits, or the search was stopped too early.
std::string render_no_plan_text(const planner::PlanAnswer& view, const Paint& paint,
                                std::size_t width);

}  // namespace rankwright::report
