// `compare` as library calls: two plans side by side, or a plan and the log of a run of it, and
// what explains the difference.
#pragma once

#include "rankwright/planner/compare/compare_view.h"
#include "rankwright/planner/compare/gap_view.h"
#include "rankwright/planner/input/plan_input.h"

namespace rankwright::planner {

struct CompareRequest {
  PlanSource a{}, b{};  // the log of `a` calibrates both
};
struct CompareAnswer {
  ValidPlan a, b;
  CompareView view;
};
Outcome<CompareAnswer> compare_plans(const CompareRequest& request);

struct CompareLogRequest {
  PlanSource plan{};
  SourceFile log{};  // of a run of the plan
};
struct CompareLogAnswer {
  ValidPlan plan;
  GapView view;
};
Outcome<CompareLogAnswer> compare_with_log(const CompareLogRequest& request);

/// Returns the refusal of a plan that is compared with nothing, or with a plan and a log at once.
Refusal refuse_sides();

}  // namespace rankwright::planner
