// Describes a plan in one paragraph: what is split where, which links its collectives cross, and
// what probably limits its speed.
#pragma once

#include <string>

#include "rankwright/planner/explain/explain_view.h"

namespace rankwright::report {

std::string describe_plan(const plan::TrainingConfig& config, const planner::ExplainView& view);

}  // namespace rankwright::report
