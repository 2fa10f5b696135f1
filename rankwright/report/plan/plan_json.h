// What `plan` found, for machines: schema rankwright.plan/1. Quantities are in base units, with the
// unit in the key. The same search gives the same bytes, however many threads it had.
#pragma once

#include <string>

#include "rankwright/planner/plan/plan_answer.h"

namespace rankwright::report {

std::string plan_json(const planner::PlanAnswer& view);

}  // namespace rankwright::report
