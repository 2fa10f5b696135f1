// A run as JSON lines, schema rankwright.run/1: one line per step as it ends, then a summary of
// prediction and measurement. Quantities are in base units, with the unit in the key.
#pragma once

#include <string>

#include "rankwright/planner/run/run_view.h"

namespace rankwright::report {

/// Writes {"type":"step",...}. `tokens` is the number of tokens per step.
std::string make_step_json(const planner::TrainedStep& step, i64 tokens);

/// Writes {"type":"summary",...}.
std::string make_summary_json(const planner::RunSummary& summary);

}  // namespace rankwright::report
