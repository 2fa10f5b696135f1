// An imported plan as a plan file, with a comment beside each assumed key, and as JSON.
#pragma once

#include <string>

#include "rankwright/planner/import.h"

namespace rankwright::report {

/// Writes the plan file.
std::string render_imported_plan(const planner::ImportedPlan& plan);

/// Writes schema rankwright.import/1: the plan file as text, and the findings of `check --json`
/// for the input.
std::string make_imported_plan_json(const planner::ImportedPlan& plan);

}  // namespace rankwright::report
