// Searches for splits item by item, with arbitrary weights. If no team has two stages, it is a
// chain and exact in items x stages steps. Otherwise it places stages one by one, with only the
// last stage of every team in a chain: exact while the step budget lasts. For split.cc only.
#pragma once

#include "rankwright/split/problem.h"

namespace rankwright::split {

/// Returns whether find_split_by_items() supports the problem: its tables have items x stages
/// entries.
bool can_split_by_items(const SplitProblem& problem);

/// Looks for a split within the limits. Requires: can_split_by_items().
Probe find_split_by_items(const SplitProblem& problem, const SplitLimits& limits, Steps& steps);

/// Returns whether there are stages that each stay within the limits, ignoring the sums per team.
/// If not, no split exists.
bool stages_fit(const SplitProblem& problem, const SplitLimits& limits);

}  // namespace rankwright::split
