// Searches for splits of models with few runs of equal items, where only counts per run matter. It
// enumerates in which stages the runs end, and for each combination asks packing.h how many items
// of each run every team takes. Exact while the step budget lasts. For split.cc only.
#pragma once

#include "rankwright/split/problem.h"

namespace rankwright::split {

/// Looks for a split within the limits.
Probe find_split_by_counts(const SplitProblem& problem, const SplitLimits& limits, Steps& steps);

}  // namespace rankwright::split
