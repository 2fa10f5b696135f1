// Orders that several schedules share, or that tests expand: each in the .cc file of its name.
#pragma once

#include "rankwright/pipeline/action.h"
#include "rankwright/pipeline/pipeline_task.h"
#include "rankwright/pipeline/runs.h"
#include "rankwright/pipeline/schedule.h"

namespace rankwright::pipeline {

/// Returns the cells of every rank: all microbatches through chunk 0, then through chunk 1 and so
/// on; backwards begin with the last chunk.
Sequences breadth_first_order(const PipelineShape& shape);

/// Returns the time in seconds (PT2). It is exact: the critical path crosses each chunk at its
/// first or its last microbatch, and changes from one to the other at one stage.
double breadth_first_time(const PipelineTask& task);

/// Returns the cells of every pp rank. Rank r starts with (pp - r - 1) + (v - 1)g forwards, where v
/// is the number of chunks per rank and g the group size.
Sequences build_deferred_wgrad(const PipelineShape& shape);

/// Returns the runs of the rank that is `rank` ranks away from where the streams enter, of `ranks`
/// up to where they turn (PT6). Chunk 0 is the stream that enters on this rank's side; each stream
/// has `microbatches`. Requires: microbatches >= 2 ranks.
RunList dualpipe_runs(i64 ranks, i64 rank, i64 microbatches);

/// Returns the runs of one rank (PT5). With few microbatches, the order is that of 2 pp - 1
/// microbatches with the excess ones left out.
RunList zb_v_runs(i64 pp, i64 rank, i64 microbatches);

}  // namespace rankwright::pipeline
