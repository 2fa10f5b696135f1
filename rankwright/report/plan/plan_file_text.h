// The plan file of an answer, with the command that made it and its main figures as comments.
#pragma once

#include <string>

#include "rankwright/planner/plan/counts_answer.h"
#include "rankwright/planner/plan/plan_answer.h"

namespace rankwright::report {

/// Writes the best plan as a plan file; empty if nothing fits. `command` is the command line that
/// the user typed. A comment says how much of the space a stopped search had covered.
std::string render_plan_file(const planner::PlanAnswer& answer, const std::string& command);

/// Writes the chosen plan as a plan file; empty if no row is chosen.
std::string render_plan_file(const planner::PlansByCount& answer, const std::string& command);

}  // namespace rankwright::report
