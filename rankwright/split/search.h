// The least limits that a split of a SplitProblem can keep, by asking the two searches again and
// again, from a bound that ignores the order of items upwards. For split.cc only.
#pragma once

#include <optional>

#include "rankwright/split/problem.h"

namespace rankwright::split {

struct BestCuts {
  std::optional<Cuts> cuts{};  // nothing where no split keeps the capacity, or none was found
  SplitLimits reached{};       // by the cuts; of memory, without them, the least that was reached
  i64 min_load = 0;            // no split that keeps the capacity has less
  bool proved = true;
};

/// First the load as small as it can be, then the heaviest stage, in so many steps.
BestCuts best_cuts(const SplitProblem& problem, i64 capacity, i64 steps);

}  // namespace rankwright::split
