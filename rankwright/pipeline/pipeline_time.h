// How long the cells of a pipelined step take, for a search that prices millions of plans: its cost
// grows with stages, not with microbatches. Not a simulate: it follows a few microbatches through
// the pipeline and counts the others (formulas PT1 to PT7). What a rank does besides cells
// (gradients, optimizer) is not in it.
#pragma once

#include <span>

#include "rankwright/base/units.h"
#include "rankwright/pipeline/schedule.h"

namespace rankwright::pipeline {

/// What one microbatch takes on one stage. Backward is input + weight; recompute is in input.
struct StageTimes {
  Seconds forward, input, weight;

  Seconds total() const { return forward + input + weight; }
  friend bool operator==(const StageTimes&, const StageTimes&) = default;
};

/// End of the simulate of `shape`, which has no fault. `stages` in order, pp x chunks of them;
/// `hop` is what one send takes over any boundary, forward or backward.
Seconds pipeline_time(const PipelineShape& shape, std::span<const StageTimes> stages, Seconds hop);

/// Neither the simulate nor pipeline_time ends earlier: every rank waits until its first microbatch
/// has come, works, and where backward is one cell the last gradient still goes down (PT8).
Seconds min_pipeline_time(const PipelineShape& shape, std::span<const StageTimes> stages,
                          Seconds hop);

}  // namespace rankwright::pipeline
