// Implements `compare` as library calls: compares two plans, or a plan and the log of its run, and
// explains the difference.
#pragma once

#include "rankwright/planner/compare/compare_view.h"
#include "rankwright/planner/compare/gap_view.h"
#include "rankwright/planner/input/plan_input.h"

namespace rankwright::planner {

/// Two plans to compare.
struct CompareRequest {
  PlanSource a{}, b{};         // the log of `a` calibrates both
  TrainingRequest training{};  // the whole run to estimate on both; empty for none
};

/// Both plans and their comparison.
struct CompareAnswer {
  ValidPlan a, b;
  CompareView view;
};

/// Reads and compares two plans.
Outcome<CompareAnswer> compare_plans(const CompareRequest& request);

/// A plan and the log of a run of it.
struct CompareLogRequest {
  PlanSource plan{};
  SourceFile log{};  // log of a run of the plan
};

/// The plan and its gap to the measured run.
struct CompareLogAnswer {
  ValidPlan plan;
  GapView view;
};

/// Compares the plan's prediction with the measurements of the log.
Outcome<CompareLogAnswer> compare_with_log(const CompareLogRequest& request);

/// Returns the refusal of a request that compares a plan with nothing, or with both a plan and a
/// log.
Refusal refuse_sides();

}  // namespace rankwright::planner
