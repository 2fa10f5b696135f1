// The plan file of an answer, with the command that made it and its figures as comments.
#pragma once

#include <string>

#include "rankwright/planner/plan/counts_answer.h"
#include "rankwright/planner/plan/plan_answer.h"

namespace rankwright::report {

/// Returns the best plan as a plan file; empty where nothing fits. `command` is what was typed. A
/// search that was stopped says how much it had looked at.
std::string plan_file_text(const planner::PlanAnswer& answer, const std::string& command);

/// Returns the chosen plan as a plan file; empty where no row is chosen.
std::string plan_file_text(const planner::CountsAnswer& answer, const std::string& command);

}  // namespace rankwright::report
