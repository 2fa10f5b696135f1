// The time of all cells of a pipelined step in closed form, for a search that evaluates millions of
// plans: its cost grows with stages, not with microbatches. It follows a few microbatches through
// the pipeline and counts the others (formulas PT1 to PT7); program/simulate.h simulates all. Other
// work of a rank (gradient reduction, optimizer) is not included.
#pragma once

#include <span>

#include "rankwright/base/units.h"
#include "rankwright/pipeline/schedule.h"

namespace rankwright::pipeline {

/// Times of one microbatch on one stage. Backward is input + weight; recomputation is in input.
struct StageTimes {
  Seconds forward, input, weight;

  Seconds total() const { return forward + input + weight; }
  friend bool operator==(const StageTimes&, const StageTimes&) = default;
};

/// Returns the estimated end of the last cell. `stages` has pp * chunks entries; `hop` is the time
/// of one send over any boundary, forward or backward. Requires: the shape has no fault.
Seconds estimate_pipeline_time(const PipelineShape& shape, std::span<const StageTimes> stages,
                               Seconds hop);

/// Returns a lower bound of both the simulation and pipeline_time: every rank waits for its first
/// microbatch, works, and if backward is one cell, the last gradient still returns to rank 0 (PT8).
Seconds min_pipeline_time(const PipelineShape& shape, std::span<const StageTimes> stages,
                          Seconds hop);

}  // namespace rankwright::pipeline
