// ZB-H1 (Qi et al. 2024): 1F1B's memory, a third of its bubble when F, I and W are equal.
#include "rankwright/program/late_weights.h"
#include "rankwright/program/schedule.h"

namespace rankwright {

Sequences zb_h1(const PipelineShape& shape) { return late_weights(shape); }

}  // namespace rankwright
