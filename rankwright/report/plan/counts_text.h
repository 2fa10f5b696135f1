// One job on several numbers of GPUs, one row each: step time, scaling efficiency, and the time
// and cost of the whole training. Text, Markdown and JSON (schema rankwright.counts/1).
#pragma once

#include <string>

#include "rankwright/planner/plan/counts_answer.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

std::string counts_text(const planner::CountsAnswer& view, const Paint& paint, std::size_t width);
std::string counts_markdown(const planner::CountsAnswer& view);
std::string counts_json(const planner::CountsAnswer& view);

}  // namespace rankwright::report
