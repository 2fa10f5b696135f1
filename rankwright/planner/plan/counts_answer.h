// The same job on several numbers of GPUs, one row each, and which of them is chosen. Data;
// plan.h fills it.
#pragma once

#include <optional>
#include <vector>

#include "rankwright/planner/plan/search_budget.h"
#include "rankwright/planner/plan/target_verdict.h"
#include "rankwright/planner/plan/training.h"
#include "rankwright/search/trade.h"

namespace rankwright::planner {

struct CountsAnswer {
  search::Problem problem;               // its world is the most GPUs
  std::vector<search::CountRow> rows{};  // rising
  TrainingAsk training{};
  StopReason stopped = StopReason::none;  // why not all numbers were looked at
  SearchBudget budget{};

  std::vector<std::optional<Training>> runs{};  // per row; empty without a plan or tokens
  /// The row that is written: the fewest GPUs that make the deadline, else the fastest. Empty where
  /// nothing fits, or nothing makes it.
  std::optional<std::size_t> chosen{};
  std::vector<TargetVerdict> targets{};  // of the chosen plan

  const search::Priced& chosen_plan() const { return *rows[*chosen].plan; }
};

/// Fills in the training figures of every row and which row is chosen.
void choose_count(CountsAnswer& answer);

}  // namespace rankwright::planner
