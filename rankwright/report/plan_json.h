// What `plan` found, for machines: schema rankwright.plan/1. Quantities are in base units, with the
// unit in the key. The same search gives the same bytes, however many threads it had.
#pragma once

#include <string>

#include "rankwright/report/plan_view.h"

namespace rankwright {

std::string plan_json(const PlanView& view);

}  // namespace rankwright
