// Pipeline bubbles in closed form, in units of one microbatch's work on one pp rank (all its
// chunks). F : I : W = 1 : 1 : 1, the usual case of equal forward, input-gradient and
// weight-gradient work. Formulas B1 to B5. The simulate of the Program decides where these are
// rough.
#pragma once

#include "rankwright/pipeline/schedule.h"

namespace rankwright::pipeline {

/// Idle time of a step over its work: (pp - 1) / microbatches for 1F1B.
double bubble_ratio(Schedule schedule, i64 pp, i64 chunks, i64 microbatches);

/// The same as a share of the step: bubble / (work + bubble).
double bubble_fraction(Schedule schedule, i64 pp, i64 chunks, i64 microbatches);

}  // namespace rankwright::pipeline
