// Collects everything that a report shows about one plan: its estimate, memory per pp rank,
// placement, simulated step, a measured run, and the alternatives. Data only; report/ renders it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/base/diagnostic.h"
#include "rankwright/import/log/run_trace.h"
#include "rankwright/planner/advice.h"
#include "rankwright/planner/explain/explain_view.h"
#include "rankwright/planner/explain/rank_map.h"
#include "rankwright/planner/explain/sweep_view.h"
#include "rankwright/planner/input/plan_input.h"
#include "rankwright/planner/plan.h"
#include "rankwright/planner/timeline/timeline_summary.h"

namespace rankwright::planner {

/// The content of one plan's report.
struct PlanReport {
  std::string name{};  // the file, as commands name it
  plan::TrainingConfig config;
  ExplainView explain_view{};
  Diagnostics findings{};
  std::vector<cost::MemoryEstimate> memory_per_pp_rank{};  // by pp rank
  RankMap ranks{};
  std::vector<TargetVerdict> targets{};
  std::vector<SweepView> what_if{};              // other values of one setting at a time
  std::optional<SummarizedStep> step{};          // empty if too large to simulate
  std::optional<importer::RunTrace> measured{};  // trace of a run of the plan
  TrainingRequest training{};     // tokens and price of the whole run, if they are known
  std::optional<Training> run{};  // its time and cost
  std::string overrides{};        // options that replace keys of the file: " --model llama-3.1-70b"
  /// The search for the same job, with the neighbors of this plan. Empty if nothing was searched.
  std::optional<PlanAnswer> search{};
  Advice advice{};
  std::vector<search::EvaluatedPlan>
      front{};  // Pareto front of the search: no plan is both faster and smaller, by closed form

  Seconds time() const { return explain_view.estimate.time(); }
  search::EvaluatedPlan evaluated() const {
    return {.config = config, .estimate = explain_view.estimate};
  }
};

/// Builds the report of a plan without a search. Requires: a config without constraint violations.
PlanReport build_plan_report(std::string name, const plan::TrainingConfig& config,
                             Diagnostics findings);

/// Adds the whole training run, which the advice counts too: call it before add_search().
void add_training(PlanReport& report, const TrainingRequest& training);

/// Adds the search for the same job and the advice that follows from it. Requires: its neighbors
/// are those of this plan.
void add_search(PlanReport& report, PlanAnswer search);

/// Returns whether an answer has a plan to report on: its best, or the leanest if nothing fits.
bool can_report(const PlanAnswer& answer);

/// Builds the report of an answer's best plan, or of the leanest if nothing fits, which shows what
/// would. Requires: can_report().
PlanReport report_found_plan(std::string name, const PlanAnswer& answer);

/// A plan to report on.
struct ReportRequest {
  PlanSource plan{};
  /// Its rules apply, and only plans that it runs without a warning are searched. Nothing: that of
  /// the file; a search without either is for choose_search_target().
  std::optional<rules::Target> target{};
  std::optional<SourceFile> measured{};  // trace of a run of the plan
  TrainingRequest training{};
  bool search = true;  // search for alternatives
};

/// Reads a plan and builds its report. Refuses a plan with constraint violations, and a trace of
/// another plan.
Outcome<PlanReport> report_plan(const ReportRequest& request, const SearchControl& control = {});

/// Returns why a trace cannot be of this plan: other pp ranks, stages or microbatches, cells on
/// another pp rank, missing forward cells. Empty if it matches.
std::string find_trace_mismatch(const plan::TrainingConfig& config, const importer::RunTrace& run);

}  // namespace rankwright::planner
