// A run for machines: JSON lines, schema rankwright.run/1. One for each step as it ends, then one
// that says what was predicted and measured. Quantities are in base units, named in the key.
#pragma once

#include <string>

#include "rankwright/planner/run/run_view.h"

namespace rankwright::report {

/// {"type":"step",...}; `tokens` are those of a step.
std::string step_json(const planner::TrainedStep& step, i64 tokens);

/// {"type":"summary",...}.
std::string summary_json(const planner::RunSummary& summary);

}  // namespace rankwright::report
