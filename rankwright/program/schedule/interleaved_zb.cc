// Interleaved zero-bubble: ZB-H1 with v chunks per rank, as in torch's
// ScheduleInterleavedZeroBubble.
#include "rankwright/program/schedule/deferred_wgrad.h"
#include "rankwright/program/schedule/schedule.h"

namespace rankwright::program {

Sequences interleaved_zb(const plan::PipelineShape& shape) { return deferred_wgrad(shape); }

}  // namespace rankwright::program
