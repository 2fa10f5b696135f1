// What DualPipe and DualPipeV share (DeepSeek-V3 report, and DeepSeek's DualPipe code): two streams
// of microbatches meet on a rank, and in the steady state the forward of one runs together with the
// backward of the other, so that the communication of each hides behind the computation of both.
#pragma once

#include <array>

#include "rankwright/program/schedule/action.h"

namespace rankwright::program {

/// One of the two streams as a rank sees it: the stage that it runs, and its first microbatch.
struct Stream {
  i64 stage;
  i64 first;
};

/// The line of the rank that is `depth` ranks away from where the streams enter, of `ranks` up to
/// where they turn. `near` is the stream that enters on this rank's side; each has `microbatches`.
Sequence dualpipe_common(i64 ranks, i64 depth, i64 microbatches, Stream near, Stream far);

}  // namespace rankwright::program
