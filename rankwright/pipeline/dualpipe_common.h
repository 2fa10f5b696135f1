// Shared by DualPipe and DualPipeV (DeepSeek-V3 report and DeepSeek's DualPipe code): two streams
// of microbatches meet on a rank. In the steady state, the forward of one runs together with the
// backward of the other, so that the communication of each overlaps the computation of both.
#pragma once

#include "rankwright/pipeline/runs.h"

namespace rankwright::pipeline {

/// Returns the runs of the rank that is `rank` ranks away from where the streams enter, of `ranks`
/// up to where they turn (PT6). Chunk 0 is the stream that enters on this rank's side; each stream
/// has `microbatches`. Requires: microbatches >= 2 ranks.
RunList dualpipe_runs(i64 ranks, i64 rank, i64 microbatches);

}  // namespace rankwright::pipeline
