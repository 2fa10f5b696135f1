// The search that looks at every item by itself: any weights. Where no team has two stages it is a
// chain, and exact in items x stages steps. Else stages are set one by one, and only the last stage
// of every team by a chain: exact as long as the steps last. For split.cc only.
#pragma once

#include "rankwright/split/problem.h"

namespace rankwright::split {

/// Whether unit_split() can be asked at all: its tables hold items x stages.
bool takes_units(const SplitProblem& problem);

Probe unit_split(const SplitProblem& problem, const SplitLimits& limits, Steps& steps);

/// Whether stages can be cut that each alone stay within the limits, whatever their teams add up
/// to. Where they cannot, no split can.
bool stages_fit(const SplitProblem& problem, const SplitLimits& limits);

}  // namespace rankwright::split
