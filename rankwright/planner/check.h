// `check` as a library call: everything that is wrong with a plan, or with a schedule, at once.
#pragma once

#include <optional>

#include "rankwright/cost/estimate.h"
#include "rankwright/planner/input/plan_input.h"
#include "rankwright/rules/proof_findings.h"

namespace rankwright::planner {

struct CheckRequest {
  PlanSource plan{};  // or, by the name's ending .csv, a schedule: one line of cells per pp rank
  rules::Target target = rules::Target::any;
};

/// Findings, and what holds where there are no errors among them.
struct CheckAnswer {
  SourceFile file{};                             // what was checked
  Diagnostics findings{};                        // each with its place, most severe first
  bool readable = true;                          // else the findings say why it is not
  std::optional<plan::TrainingConfig> config{};  // of a plan that could be read
  std::optional<cost::Estimate> estimate{};      // of a plan without violations
  std::optional<rules::ProvedPlan> proof{};      // of a plan with a pipeline that is not too long
  std::optional<rules::CheckedSchedule> schedule{};  // of a schedule that could be read
};

/// Faults of the file are findings of the answer. Refuses only options that a schedule cannot have.
Outcome<CheckAnswer> check_plan(const CheckRequest& request);

}  // namespace rankwright::planner
