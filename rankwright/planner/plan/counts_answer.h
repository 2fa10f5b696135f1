// One job on several GPU counts, one row each, and the chosen row. Data only; plan.h fills it in.
#pragma once

#include <optional>
#include <vector>

#include "rankwright/planner/plan/search_budget.h"
#include "rankwright/planner/plan/target_verdict.h"
#include "rankwright/planner/plan/training.h"
#include "rankwright/search/trade.h"

namespace rankwright::planner {

/// The rows of all GPU counts, and the choice among them.
struct PlansByCount {
  search::Problem problem;               // its world is the largest GPU count
  std::vector<search::CountRow> rows{};  // in ascending order of GPU count
  TrainingRequest training{};
  StopReason stopped = StopReason::none;  // why not all counts were searched
  SearchBudget budget{};

  std::vector<std::optional<Training>>
      runs{};  // by row; empty without a plan or a number of tokens
  /// The row to write: the fewest GPUs that meet the deadline at every error of the estimate, else
  /// the fewest that meet it within that error; without a deadline the fastest. Empty if nothing
  /// fits or everything misses the deadline.
  std::optional<std::size_t> chosen{};
  std::vector<TargetVerdict> targets{};  // of the chosen plan

  /// Returns whether a row has this verdict on the deadline.
  bool has_verdict(std::size_t k, DeadlineVerdict verdict) const {
    return runs[k] && runs[k]->deadline == verdict;
  }

  const search::EvaluatedPlan& chosen_plan() const { return *rows[*chosen].plan; }
};

/// Fills in the training figures of every row, and chooses a row.
void choose_count(PlansByCount& answer);

/// Returns the fastest row with fewer GPUs if row `row` is no faster than it; else nothing.
std::optional<std::size_t> find_faster_on_fewer(const PlansByCount& answer, std::size_t row);

/// Returns the row whose training is done first; nothing if no row has one.
std::optional<std::size_t> find_shortest_run(const PlansByCount& answer);

/// Returns the GPU counts to try next if every row misses the deadline: from those that meet it if
/// the throughput per GPU of the shortest run stays as it is, to twice as many. Nothing if a row
/// with more GPUs is slower, so that more do not help, or if no cluster is as large.
std::optional<search::Range> find_next_counts(const PlansByCount& answer);

}  // namespace rankwright::planner
