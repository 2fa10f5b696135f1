// Everything that a search found: the best plan, its neighbors, the cost of less memory or fewer
// GPUs, and the frameworks that run it. Data that renderers lay out without computing anything;
// plan.h fills it in.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rankwright/planner/explain/explain_view.h"
#include "rankwright/planner/plan/objective.h"
#include "rankwright/planner/plan/savings.h"
#include "rankwright/planner/plan/search_budget.h"
#include "rankwright/planner/plan/target_verdict.h"
#include "rankwright/planner/plan/training.h"
#include "rankwright/search/answer.h"
#include "rankwright/search/trade.h"
#include "rankwright/search/why_not.h"

namespace rankwright::planner {

/// The plan of the user's plan file, for the same job.
struct OwnPlan {
  std::string name{};
  plan::TrainingConfig config;
  std::optional<search::EvaluatedPlan> evaluated{};  // empty if it has constraint violations
};

/// A global batch near the job's that uses more hosts at a higher throughput, because the job's
/// does not divide evenly over their replicas.
struct OtherBatch {
  i64 hosts = 0;
  i64 dp = 1;  // replicas over which the job's batch does not divide
  i64 global_batch = 0;
  Seconds step{};  // of the fastest plan on `hosts` with `global_batch`

  friend bool operator==(const OtherBatch&, const OtherBatch&) = default;
};

/// The hosts in use when some are excluded.
struct HostUse {
  i64 count = 0;              // number of excluded hosts
  std::vector<i64> listed{};  // which ones; empty if only their number is known
  i64 left = 0;               // remaining hosts
  i64 used = 0;               // hosts in use; 0: nothing fits on any number of them
  i64 counts_tried = 0;       // host counts for which a layout exists
  bool cut_short = false;     // smaller host counts were not tried
  bool all_factor = true;     // the limits allow degrees that multiply to all remaining devices
  /// If no layout uses all remaining hosts: the constraints that the layouts violate and how often,
  /// most frequent first.
  std::vector<std::pair<plan::ConstraintViolation::Why, i64>> broken{};
  std::optional<OtherBatch> other_batch{};  // if the batch is what keeps hosts idle
};

/// The layout that needs the least memory, if nothing fits.
struct LeanestPlan {
  plan::TrainingConfig config;
  cost::MemoryEstimate memory_estimate{};  // memory of the fullest rank
};

/// The answer to a request for a plan.
struct PlanAnswer {
  search::Problem problem;
  search::Answer answer{};
  i64 degree_choices = 0;  // factorizations of the world size into degrees, within the limits
  std::vector<search::Neighbor> neighbors{};
  std::vector<search::EvaluatedPlan> top{};  // the fastest of other families, as asked for
  std::vector<search::TradePoint> trade{};
  std::optional<OwnPlan> own{};
  TrainingRequest training{};
  std::optional<HostUse> hosts{};
  std::optional<search::CountRow>
      fewest{};  // for --fit, or if nothing fits: the smallest GPU count that fits with margin
  std::optional<search::CountRow> fewest_tight{};  // for --fit: a smaller GPU count that is tight
  bool fit_asked = false;
  std::vector<Saving> savings{};         // if nothing fits: settings that make it fit
  const SavingRow* offloaded = nullptr;  // --allow-offload: what the plan offloads, if it must
  Objective objective = Objective::time;
  std::optional<i64> largest{};           // what the objective asks for; empty if nothing fits
  StopReason stopped = StopReason::none;  // why the search is incomplete
  SearchBudget budget{};

  // Figures of the best plan; empty if nothing fits.
  ExplainView explain_view{};
  std::optional<Training> run{};  // empty without a number of tokens
  std::vector<TargetVerdict> targets{};

  std::optional<LeanestPlan> leanest{};

  const search::EvaluatedPlan& best() const { return *answer.best; }
};

/// Fills in what follows from the search: the figures of the best plan or of the leanest, and the
/// violated constraint of each neighbor that cannot exist.
void complete_figures(PlanAnswer& answer);

}  // namespace rankwright::planner
