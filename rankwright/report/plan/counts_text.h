// The same job on several numbers of GPUs, one row each: what a step takes, how well it scales,
// what the whole training takes and costs. Text, Markdown and JSON (schema rankwright.counts/1).
#pragma once

#include <string>

#include "rankwright/planner/plan/counts_answer.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

std::string counts_text(const planner::CountsAnswer& view, const Paint& paint, std::size_t width);
std::string counts_markdown(const planner::CountsAnswer& view);
std::string counts_json(const planner::CountsAnswer& view);

}  // namespace rankwright::report
