// The duration of a pipeline's cells in closed form, for a search that evaluates millions of plans:
// the run time grows with stages, not with microbatches. It follows a few sampled microbatches
// through the pipeline and counts the others (formulas PT1 to PT8). Work outside cells (gradient
// reduction, optimizer) is not included.
#pragma once

#include <span>

#include "rankwright/base/units.h"
#include "rankwright/pipeline/schedule.h"

namespace rankwright::pipeline {

/// The time of one microbatch on one stage. Backward is input + weight; recomputation is in input.
struct StageTimes {
  Seconds forward, input, weight;

  Seconds total() const { return forward + input + weight; }
  friend bool operator==(const StageTimes&, const StageTimes&) = default;
};

/// Estimates the end time of a simulation of `shape`. `stages` are the pp * chunks stages in order;
/// `hop` is the time of one send across any boundary, forward or backward.
/// Requires: `shape` has no fault.
Seconds pipeline_time(const plan::PipelineShape& shape, std::span<const StageTimes> stages,
                      Seconds hop);

/// Returns a lower bound on the simulated end time and on pipeline_time: every rank waits for its
/// first microbatch and does all its work; if the backward is not split, the last gradient then
/// still passes the stages before it (PT8).
Seconds min_pipeline_time(const plan::PipelineShape& shape, std::span<const StageTimes> stages,
                          Seconds hop);

}  // namespace rankwright::pipeline
