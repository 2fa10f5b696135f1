// The answer of `plan` as JSON: schema rankwright.plan/1. Quantities are in base units, with the
// unit in the key. The output does not depend on the number of threads.
#pragma once

#include <string>

#include "rankwright/planner/plan/plan_answer.h"

namespace rankwright::report {

std::string make_plan_json(const planner::PlanAnswer& view);

}  // namespace rankwright::report
