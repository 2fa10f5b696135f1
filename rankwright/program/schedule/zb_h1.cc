// ZB-H1 (Qi et al. 2024): 1F1B's memory, a third of its bubble when F, I and W are equal.
#include "rankwright/program/schedule/deferred_wgrad.h"
#include "rankwright/program/schedule/schedule.h"

namespace rankwright::program {

Sequences zb_h1(const plan::PipelineShape& shape) { return deferred_wgrad(shape); }

}  // namespace rankwright::program
