// Interleaved zero-bubble: ZB-H1 with v chunks per rank, as in torch's
// ScheduleInterleavedZeroBubble.
#include "rankwright/pipeline/deferred_wgrad.h"
#include "rankwright/pipeline/order.h"

namespace rankwright::pipeline {

Sequences interleaved_zb(const PipelineShape& shape) { return deferred_wgrad(shape); }

}  // namespace rankwright::pipeline
