// The search for models of few runs of equal items: inside a run only counts matter. It goes
// through all ways in which the ends of runs can fall into stages, and for each asks packing.h how
// many items of each run every team takes: exact as long as the steps last. For split.cc only.
#pragma once

#include "rankwright/split/problem.h"

namespace rankwright::split {

Probe count_split(const SplitProblem& problem, const SplitLimits& limits, Steps& steps);

}  // namespace rankwright::split
