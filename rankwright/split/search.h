// Finds the smallest limits that a split of a SplitProblem can keep, by repeated calls of the two
// searches, starting from a lower bound that ignores the order of items. For split.cc only.
#pragma once

#include <optional>

#include "rankwright/split/problem.h"

namespace rankwright::split {

/// The best cuts found, and what was proved about them.
struct BestCuts {
  std::optional<Cuts> cuts{};  // empty if no split keeps the capacity, or none was found
  SplitLimits reached{};  // by the cuts; without cuts, `memory` is the smallest that was reached
  i64 min_load = 0;       // lower bound on the load of all splits that keep the capacity
  bool proved = true;
};

/// Minimizes first the load, then the heaviest stage, in at most `steps` steps.
BestCuts find_best_cuts(const SplitProblem& problem, i64 capacity, i64 steps);

}  // namespace rankwright::split
