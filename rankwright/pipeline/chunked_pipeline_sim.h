// Closed-form time of the schedules with the same forward order on every rank and backwards in its
// mirror image: 1f1b, interleaved, zb-h1 and interleaved-zb. It simulates a few microbatches (PT1),
// one path at a time, so that the work before a cell is derived from the adjacent rank (PT3).
#pragma once

#include "rankwright/pipeline/pipeline_task.h"

namespace rankwright::pipeline {

/// Returns the time in seconds, extrapolated from at most 4 rounds of microbatches (PT7). Rank r
/// runs warmup_per_rank * (pp - r - 1) + (chunks - 1) * group forwards before its first backward.
double chunked_time(const PipelineTask& task, i64 warmup_per_rank);

/// Returns the same without extrapolation: the first, a middle and the last microbatch are
/// sampled.
double chunked_time_of_whole_step(const PipelineTask& task, i64 warmup_per_rank);

}  // namespace rankwright::pipeline
