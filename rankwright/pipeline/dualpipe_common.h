// The common order of DualPipe and DualPipeV (DeepSeek-V3 report and DeepSeek's DualPipe code): two
// streams of microbatches pass each rank. In the steady state the forward of one runs together with
// the backward of the other, so that the communication of each overlaps the computation of both.
#pragma once

#include <array>

#include "rankwright/pipeline/action.h"

namespace rankwright::pipeline {

/// One of the two streams on a rank: the stage that it runs there and its first microbatch.
struct Stream {
  i64 stage;
  i64 first;
};

/// Returns the cells of the rank at distance `depth` from the entry, of `ranks` ranks between the
/// entry and the turning point. `near` is the stream that enters on this rank's side. Each stream
/// has `microbatches` microbatches.
Sequence dualpipe_common(i64 ranks, i64 depth, i64 microbatches, Stream near, Stream far);

}  // namespace rankwright::pipeline
