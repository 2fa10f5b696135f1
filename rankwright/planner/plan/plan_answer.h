// Everything that a search for a plan found: the best plan, its neighbors, what less memory or
// fewer GPUs cost, which frameworks run it. Data that renderers lay out without computing anything;
// plan.h fills it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rankwright/planner/explain/explain_view.h"
#include "rankwright/planner/plan/search_budget.h"
#include "rankwright/planner/plan/target_verdict.h"
#include "rankwright/planner/plan/training.h"
#include "rankwright/search/answer.h"
#include "rankwright/search/trade.h"
#include "rankwright/search/why_not.h"

namespace rankwright::planner {

/// The plan of the plan file, for the same job.
struct OwnPlan {
  std::string name{};
  plan::TrainingConfig config;
  std::optional<search::Priced> priced{};  // empty where it has a violation
};

/// Which hosts are used where some are excluded.
struct HostUse {
  i64 count = 0;              // excluded
  std::vector<i64> listed{};  // which; empty where only their number is known
  i64 left = 0;               // hosts
  i64 used = 0;               // 0: nothing fits on any number of them
  i64 counts_tried = 0;       // numbers of hosts that a layout exists for
  bool cut_short = false;     // smaller numbers were not tried
  /// Where no layout uses all that are left: what their degrees break, most frequent first, and how
  /// often.
  std::vector<std::pair<plan::ConstraintViolation::Why, i64>> broken{};
};

/// The layout that needs least memory, where nothing fits.
struct LeanestPlan {
  plan::TrainingConfig config;
  cost::MemoryEstimate estimate_memory{};  // of the fullest rank
};

struct PlanAnswer {
  search::Problem problem;
  search::Answer answer{};
  i64 degree_choices = 0;  // ways to write the world as degrees, within the limits
  std::vector<search::Neighbour> neighbours{};
  std::vector<search::TradePoint> trade{};
  std::optional<OwnPlan> own{};
  TrainingAsk training{};
  std::optional<HostUse> hosts{};
  std::optional<search::CountRow>
      fewest{};  // of --fit, or where nothing fits: on how many GPUs it would
  bool fit_asked = false;
  StopReason stopped = StopReason::none;  // why not everything was looked at
  SearchBudget budget{};

  // Of the best plan; empty where nothing fits.
  ExplainView sheet{};
  std::optional<Training> run{};  // empty without a number of tokens
  std::vector<TargetVerdict> targets{};

  std::optional<LeanestPlan> leanest{};

  const search::Priced& best() const { return *answer.best; }
};

/// Fills in what follows from the search: figures of the best plan or of the leanest, and what
/// arithmetic says against neighbors that cannot exist.
void complete_figures(PlanAnswer& answer);

}  // namespace rankwright::planner
