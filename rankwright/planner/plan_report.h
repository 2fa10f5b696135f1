// Everything that a report shows of one plan: its worksheet, memory per pp rank, where ranks are,
// its step simulated, a measured run, and what else could be chosen. Data; report/ lays it out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/base/diagnostic.h"
#include "rankwright/import/run_trace.h"
#include "rankwright/planner/plan.h"
#include "rankwright/planner/plan_input.h"
#include "rankwright/planner/rank_map.h"
#include "rankwright/planner/timeline_summary.h"
#include "rankwright/planner/worksheet.h"

namespace rankwright {

struct PlanReport {
  std::string name{};  // the file, as commands name it
  Setup setup;
  Worksheet sheet{};
  Diagnostics findings{};
  std::vector<Ledger> ledgers{};  // per pp rank
  RankMap ranks{};
  std::vector<TargetVerdict> targets{};
  std::optional<PlayedStep> step{};    // empty where it is too large to simulate
  std::optional<RunTrace> measured{};  // of a run of the plan
  /// What was found for the same job; its neighbors are those of this plan. Empty where nothing was
  /// searched.
  std::optional<PlanAnswer> search{};
  std::vector<Priced> front{};  // of the search: nothing is faster and smaller, by closed form

  Seconds time() const { return sheet.estimate.time(); }
  Priced priced() const { return {.setup = setup, .estimate = sheet.estimate}; }
};

/// Builds the report of a plan alone. Requires: the setup has no misfit.
PlanReport build_plan_report(std::string name, const Setup& setup, Diagnostics findings);

/// Adds what was found for the same job. Requires: its neighbors are those of this plan.
void add_search(PlanReport& report, PlanAnswer search);

/// Builds the report of an answer's best plan. Requires: the answer has one.
PlanReport report_best_plan(std::string name, const PlanAnswer& answer);

/// What `report` is asked.
struct ReportRequest {
  PlanSource plan{};
  Target target = Target::any;           // search only what this framework runs without a warning
  std::optional<SourceFile> measured{};  // the trace of a run of the plan
  bool search = true;                    // for what else could be chosen
};

/// Reads a plan and builds its report. Refuses a plan with misfits, and a trace of another plan.
Outcome<PlanReport> report_plan(const ReportRequest& request, const SearchControl& control = {});

/// Returns what in a trace cannot be of this plan: other pp ranks, stages or microbatches, cells on
/// another pp rank, missing forward cells. Empty where it matches.
std::string trace_mismatch(const Setup& setup, const RunTrace& run);

}  // namespace rankwright
