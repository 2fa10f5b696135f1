// The common order of ZB-H1 and interleaved zero-bubble: 1F1B with the input gradient in place of
// the backward, so that the previous stage gets it sooner. Rank r defers each weight gradient by r
// input gradients, into what would be the bubble.
#pragma once

#include "rankwright/plan/schedule.h"
#include "rankwright/program/schedule/action.h"

namespace rankwright::program {

/// Returns the cells of every pp rank. Rank r starts with (pp - r - 1) + (v - 1)g forwards, where v
/// is the number of chunks per rank and g the group size.
Sequences deferred_wgrad(const plan::PipelineShape& shape);

}  // namespace rankwright::program
