// Everything that a report shows of one plan: its worksheet, memory per pp rank, where ranks are,
// its step simulated, a measured run, and what else could be chosen. Data; report/ lays it out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/base/diagnostic.h"
#include "rankwright/import/log/run_trace.h"
#include "rankwright/planner/explain/explain_view.h"
#include "rankwright/planner/explain/rank_map.h"
#include "rankwright/planner/input/plan_input.h"
#include "rankwright/planner/plan.h"
#include "rankwright/planner/timeline/timeline_summary.h"

namespace rankwright::planner {

struct PlanReport {
  std::string name{};  // the file, as commands name it
  plan::TrainingConfig config;
  ExplainView sheet{};
  Diagnostics findings{};
  std::vector<cost::MemoryEstimate> estimate_memory_per_pp_rank{};  // per pp rank
  RankMap ranks{};
  std::vector<TargetVerdict> targets{};
  std::optional<SummarizedStep> step{};          // empty where it is too large to simulate
  std::optional<importer::RunTrace> measured{};  // of a run of the plan
  /// What was found for the same job; its neighbors are those of this plan. Empty where nothing was
  /// searched.
  std::optional<PlanAnswer> search{};
  std::vector<search::Priced>
      front{};  // of the search: nothing is faster and smaller, by closed form

  Seconds time() const { return sheet.estimate.time(); }
  search::Priced priced() const { return {.config = config, .estimate = sheet.estimate}; }
};

/// Builds the report of a plan alone. Requires: the config has no violation.
PlanReport build_plan_report(std::string name, const plan::TrainingConfig& config,
                             Diagnostics findings);

/// Adds what was found for the same job. Requires: its neighbors are those of this plan.
void add_search(PlanReport& report, PlanAnswer search);

/// Builds the report of an answer's best plan. Requires: the answer has one.
PlanReport report_best_plan(std::string name, const PlanAnswer& answer);

/// What `report` is asked.
struct ReportRequest {
  PlanSource plan{};
  rules::Target target =
      rules::Target::any;                // search only what this framework runs without a warning
  std::optional<SourceFile> measured{};  // the trace of a run of the plan
  bool search = true;                    // for what else could be chosen
};

/// Reads a plan and builds its report. Refuses a plan with violations, and a trace of another
/// plan.
Outcome<PlanReport> report_plan(const ReportRequest& request, const SearchControl& control = {});

/// Returns what in a trace cannot be of this plan: other pp ranks, stages or microbatches, cells on
/// another pp rank, missing forward cells. Empty where it matches.
std::string trace_mismatch(const plan::TrainingConfig& config, const importer::RunTrace& run);

}  // namespace rankwright::planner
