// One job on several numbers of GPUs, one row each: step time, scaling efficiency, and the time
// and cost of the whole training. Text, Markdown and JSON (schema rankwright.counts/1).
#pragma once

#include <string>

#include "rankwright/planner/plan/counts_answer.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

std::string render_counts_text(const planner::PlansByCount& view, const Paint& paint,
                               std::size_t width);
std::string render_counts_markdown(const planner::PlansByCount& view);
std::string make_counts_json(const planner::PlansByCount& view);

}  // namespace rankwright::report
