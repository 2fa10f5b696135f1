// A plan in one paragraph: what is split where, which links its collectives cross, and what
// probably limits it.
#pragma once

#include <string>

#include "rankwright/planner/explain/explain_view.h"

namespace rankwright::report {

std::string describe_plan(const plan::TrainingConfig& config, const planner::ExplainView& sheet);

}  // namespace rankwright::report
