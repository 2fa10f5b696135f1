// Pipeline bubbles in closed form for equal stages and F = I = W: forward, input gradient and
// weight gradient take equal time (formulas B1 to B5). Each schedule's formula is in its row; for
// unequal times, simulate the Program.
#pragma once

#include "rankwright/pipeline/schedule.h"

namespace rankwright::pipeline {

/// Returns the idle time of a step divided by its work: (pp - 1) / microbatches for 1F1B.
double bubble_ratio(Schedule schedule, i64 pp, i64 chunks, i64 microbatches);

/// Returns the share of the step that is idle: bubble / (work + bubble).
double bubble_fraction(Schedule schedule, i64 pp, i64 chunks, i64 microbatches);

}  // namespace rankwright::pipeline
