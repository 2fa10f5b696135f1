// A plan that was imported: as a plan file with what was assumed beside each key, and as JSON.
#pragma once

#include <string>

#include "rankwright/planner/import.h"

namespace rankwright::report {

std::string imported_plan_text(const planner::ImportedPlan& plan);

/// Schema rankwright.import/1: the plan file as text, and what `check --json` says of the input.
std::string imported_plan_json(const planner::ImportedPlan& plan);

}  // namespace rankwright::report
