// The work of each pp rank: forward FLOPs per token, including the output head. The slowest pp rank
// determines the speed of all (formula W1).
#pragma once

#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/plan/plan.h"
#include "rankwright/split/split.h"

namespace rankwright::cost {

/// Returns the work by pp rank. MTP modules count on their own stage, their heads with the loss. If
/// two ranks hold a stage, each runs half of the tokens.
std::vector<Flops> work(const plan::TrainingConfig& config);

/// Returns the work of the busiest pp rank relative to the mean, minus 1: 0.25 is a quarter more.
double imbalance(const std::vector<Flops>& work);

/// Returns the input of find_best_split() for finding the stages that minimize the work of the
/// busiest pp rank: the items of the plan's stages, weighted as in work(). Memory is not
/// considered.
split::SplitTask make_split_task(const plan::TrainingConfig& config);

}  // namespace rankwright::cost
