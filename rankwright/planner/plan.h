// The plan search as one call: a request in, an answer out. Reads and writes no files. The caller
// shows progress and stops the search through SearchControl.
#pragma once

#include <functional>
#include <string>

#include "rankwright/import/plan/draft.h"
#include "rankwright/planner/input/outcome.h"
#include "rankwright/planner/plan/counts_answer.h"
#include "rankwright/planner/plan/plan_answer.h"
#include "rankwright/planner/plan/plan_request.h"

namespace rankwright::planner {

/// Callbacks of a search, all optional. All but should_stop run on the thread that called the
/// search.
struct SearchControl {
  std::function<void(const std::string&)> phase{};  // the phase that begins: "why not otherwise"
  std::function<void(const search::SearchProgress&)> progress{};
  /// Returns true to end the search early; the answer then says so. Called by all search threads.
  std::function<bool()> should_stop{};
};

/// Finds the plan to run, its neighbors, and the cost of less memory or fewer GPUs. An answer
/// without a best plan says why nothing fits. Refuses a request for several GPU counts.
Outcome<PlanAnswer> find_plan(const PlanRequest& request, const SearchControl& control = {});

/// Finds the fastest plan for each GPU count from `gpus->min` to `gpus->max`. If a deadline falls
/// between two counts, also searches counts between them.
Outcome<PlansByCount> find_plans_by_count(const PlanRequest& request,
                                          const SearchControl& control = {});

/// Searches for alternatives to a given plan for its job; the neighbors are those of that plan. If
/// nothing fits, looks for the smallest larger GPU count that fits.
/// `stated` is the content of its file. Requires: the plan has no constraint violations.
PlanAnswer search_around(const search::EvaluatedPlan& plan, const importer::Draft& stated,
                         rules::Target target, const SearchControl& control = {});

}  // namespace rankwright::planner
