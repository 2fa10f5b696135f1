// Shared by GPipe and looped BFS: all forwards, chunk by chunk, then all backwards.
#pragma once

#include "rankwright/pipeline/pipeline_task.h"

namespace rankwright::pipeline {

/// Returns the cells of every rank: all microbatches through chunk 0, then through chunk 1 and so
/// on; backwards begin with the last chunk.
Sequences breadth_first_order(const PipelineShape& shape);

/// Returns the time in seconds (PT2). It is exact: the critical path crosses each chunk at its
/// first or its last microbatch, and changes from one to the other at one stage.
double breadth_first_time(const PipelineTask& task);

}  // namespace rankwright::pipeline
