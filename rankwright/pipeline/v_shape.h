// Closed-form time of schedules in which microbatches go forth and back over the ranks: zb-v (PT5),
// dualpipe and dualpipe-v (PT6). Rank r has stage r as chunk 0 (near) and stage 2 ranks - 1 - r as
// chunk 1 (far).
#pragma once

#include "rankwright/pipeline/runs.h"
#include "rankwright/pipeline/sampled_pipeline_sim.h"

namespace rankwright::pipeline {

struct VShape {
  i64 ranks = 1;
  i64 microbatches = 1;
  RunList (*runs)(i64 ranks, i64 rank, i64 microbatches) = nullptr;  // of one rank
  double turn = 0;  // seconds of the send between stages ranks - 1 and ranks
};

/// Returns the time in seconds, by a simulation of the `sampled` microbatches.
double v_shape_time(const PipelineTask& task, const VShape& shape,
                    const SampledMicrobatches& sampled);

}  // namespace rankwright::pipeline
