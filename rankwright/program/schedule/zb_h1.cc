// ZB-H1 (Qi et al. 2024): the memory of 1F1B and, if F = I = W, a third of its bubble.
#include "rankwright/program/schedule/deferred_wgrad.h"
#include "rankwright/program/schedule/schedule.h"

namespace rankwright::program {

Sequences zb_h1(const plan::PipelineShape& shape) { return deferred_wgrad(shape); }

}  // namespace rankwright::program
