// ZB-H1 (Qi et al. 2024): the memory of 1F1B and, if F = I = W, a third of its bubble.
#include "rankwright/pipeline/deferred_wgrad.h"
#include "rankwright/pipeline/order.h"

namespace rankwright::pipeline {

Sequences zb_h1(const PipelineShape& shape) { return deferred_wgrad(shape); }

}  // namespace rankwright::pipeline
