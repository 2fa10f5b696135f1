// From a PlanRequest to the Problem that a search solves: file and options together, defaults for
// what both leave open, the cluster as large as it has to be. Searches nothing.
#pragma once

#include <optional>

#include "rankwright/planner/plan/plan_answer.h"
#include "rankwright/planner/plan/plan_request.h"

namespace rankwright::planner {

/// What a search is asked, and the plan to compare with.
struct PlanProblem {
  search::Problem problem;
  std::optional<OwnPlan> own{};  // of a plan file that states one
};

/// Reads the files and checks the request against them.
Outcome<PlanProblem> read_plan_problem(const PlanRequest& request);

}  // namespace rankwright::planner
