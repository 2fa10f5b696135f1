// The common order of ZB-H1 and interleaved zero-bubble: 1F1B with the input gradient in place of
// the backward, so that the previous stage gets it sooner. Rank r defers each weight gradient by r
// input gradients, into what would be the bubble.
#pragma once

#include "rankwright/pipeline/action.h"
#include "rankwright/pipeline/schedule.h"

namespace rankwright::pipeline {

/// Returns the cells of every pp rank. Rank r starts with (pp - r - 1) + (v - 1)g forwards, where v
/// is the number of chunks per rank and g the group size.
Sequences build_deferred_wgrad(const PipelineShape& shape);

}  // namespace rankwright::pipeline
