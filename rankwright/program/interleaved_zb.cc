// Interleaved zero-bubble: ZB-H1 with v chunks a rank, as torch's ScheduleInterleavedZeroBubble.
#include "rankwright/program/late_weights.h"
#include "rankwright/program/schedule.h"

namespace rankwright {

Sequences interleaved_zb(const PipelineShape& shape) { return late_weights(shape); }

}  // namespace rankwright
