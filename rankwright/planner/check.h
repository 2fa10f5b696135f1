// Implements `check` as a library call: finds all problems of a plan, or of a schedule, at once.
#pragma once

#include <optional>

#include "rankwright/cost/estimate.h"
#include "rankwright/planner/input/plan_input.h"
#include "rankwright/rules/proof_findings.h"

namespace rankwright::planner {

/// A plan or a schedule to check.
struct CheckRequest {
  PlanSource
      plan{};  // a plan; or, if its name ends in .csv, a schedule: one line of cells per pp rank
  std::optional<rules::Target> target{};  // nothing: that of the file
};

/// The findings, and the results of the checks that could run.
struct CheckAnswer {
  SourceFile file{};                             // the file that was checked
  Diagnostics findings{};                        // each with its position, most severe first
  bool readable = true;                          // if false, the findings say why
  std::optional<plan::TrainingConfig> config{};  // set if a plan could be read
  std::optional<cost::Estimate> estimate{};      // set if the plan has no constraint violations
  std::optional<rules::ProvedPlan>
      proof{};  // set if the plan has a pipeline that is small enough to verify
  std::optional<rules::CheckedSchedule> schedule{};  // set if a schedule could be read
};

/// Checks the file. Problems of the file are findings of the answer; the call refuses only options
/// that do not apply to a schedule.
Outcome<CheckAnswer> check_plan(const CheckRequest& request);

}  // namespace rankwright::planner
