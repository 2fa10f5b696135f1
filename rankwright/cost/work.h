// How much each pp rank computes: forward FLOPs of one token of the step, output head included. The
// slowest pp rank sets the pace of all (formula W1).
#pragma once

#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/plan/plan.h"
#include "rankwright/split/split.h"

namespace rankwright::cost {

/// By pp rank. MTP modules are where they stand, their heads with the loss. Where two ranks hold a
/// stage, each runs it for half of the tokens.
std::vector<Flops> work(const plan::TrainingConfig& config);

/// How much more the busiest pp rank computes than the mean: 0.25 is a quarter more.
double imbalance(const std::vector<Flops>& work);

/// What best_split() needs to find the stages with which the busiest pp rank computes least: the
/// items that the plan's stages hold, weighed as work() does. No memory.
split::SplitTask split_task(const plan::TrainingConfig& config);

}  // namespace rankwright::cost
