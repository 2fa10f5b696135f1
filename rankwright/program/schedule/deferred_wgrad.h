// What ZB-H1 and the interleaved zero-bubble schedule share: 1F1B with the input gradient in place
// of the backward, so that the stage before gets it sooner, and each weight gradient r input
// gradients late on rank r, where the bubble would be.
#pragma once

#include "rankwright/plan/schedule.h"
#include "rankwright/program/schedule/action.h"

namespace rankwright::program {

/// Rank r runs (pp - r - 1) + (v - 1)g forwards ahead.
Sequences deferred_wgrad(const plan::PipelineShape& shape);

}  // namespace rankwright::program
