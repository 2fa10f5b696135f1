// Turns a PlanRequest into the Problem that a search solves: merges file and options, fills in
// defaults, and makes the cluster as large as necessary. Does not search.
#pragma once

#include <optional>

#include "rankwright/planner/plan/plan_answer.h"
#include "rankwright/planner/plan/plan_request.h"

namespace rankwright::planner {

/// The problem to solve, and the plan to compare with.
struct PlanProblem {
  search::Problem problem;
  std::optional<OwnPlan> own{};  // set if the plan file states a plan
};

/// Reads the files of the request and checks the request against them.
Outcome<PlanProblem> read_plan_problem(const PlanRequest& request);

}  // namespace rankwright::planner
