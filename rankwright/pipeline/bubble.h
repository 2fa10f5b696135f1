// Pipeline bubbles in closed form (formulas B1 to B5), in units of one microbatch's work on one pp
// rank (all its chunks). They assume equal forward, input-gradient and weight-gradient work, F : I
// : W = 1 : 1 : 1. Simulating the Program is exact where these are rough.
#pragma once

#include "rankwright/pipeline/schedule.h"

namespace rankwright::pipeline {

/// Returns the idle time of a step divided by its work: (pp - 1) / microbatches for 1F1B.
double bubble_ratio(plan::Schedule schedule, i64 pp, i64 chunks, i64 microbatches);

/// Returns the idle time as a fraction of the step: bubble / (work + bubble).
double bubble_fraction(plan::Schedule schedule, i64 pp, i64 chunks, i64 microbatches);

}  // namespace rankwright::pipeline
