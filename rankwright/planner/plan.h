// The search for a plan as one call: a request in, an answer out. Reads and writes no files; what a
// caller shows meanwhile, and when it wants to stop, goes through SearchControl.
#pragma once

#include <functional>
#include <string>

#include "rankwright/import/plan/draft.h"
#include "rankwright/planner/input/outcome.h"
#include "rankwright/planner/plan/counts_answer.h"
#include "rankwright/planner/plan/plan_answer.h"
#include "rankwright/planner/plan/plan_request.h"

namespace rankwright::planner {

/// Callbacks of a search, all of them optional; but for should_stop, called by the thread that
/// called the search.
struct SearchControl {
  std::function<void(const std::string&)> phase{};  // what begins: "why not otherwise"
  std::function<void(const search::SearchProgress&)> progress{};
  /// True ends the search early, and the answer says so. Called by all threads of the search.
  std::function<bool()> should_stop{};
};

/// Finds the plan to run, its neighbors, and what less memory or fewer GPUs cost. An answer
/// without a best plan says why nothing fits. Refuses a request for several numbers of GPUs.
Outcome<PlanAnswer> find_plan(const PlanRequest& request, const SearchControl& control = {});

/// Finds the fastest plan on each number of GPUs from `gpus->least` to `gpus->most`. Where a
/// deadline falls between two numbers, also on numbers between them.
Outcome<CountsAnswer> find_plans_by_count(const PlanRequest& request,
                                          const SearchControl& control = {});

/// Finds what else there is for the job of a given plan; the neighbors are those of that plan.
/// `stated` is what its file states. Requires: the plan has no violation.
PlanAnswer search_around(const search::Priced& plan, const importer::Draft& stated,
                         rules::Target target, const SearchControl& control = {});

}  // namespace rankwright::planner
