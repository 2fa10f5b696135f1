// The order in which each pp rank runs its cells: one file and one table row per schedule. Formulas
// G1 to G10 give the number of warm-up forwards and the activations held at most. transfers.h adds
// sends and receives; simulate.h computes times.
#pragma once

#include <optional>
#include <span>

#include "rankwright/pipeline/schedule.h"

namespace rankwright::pipeline {

/// Returns the cells of every pp rank, in order. Requires: the shape has no fault.
Sequences cells(const PipelineShape& shape);

/// Returns the maximum number of stage activations that a pp rank holds at once. A forward creates
/// one; the backward or the weight gradient frees it. This is the schedule's stated limit, and
/// cells() respects it.
i64 max_in_flight(const PipelineShape& shape, i64 pp_rank);

/// Returns the maximum weight that a pp rank holds at once if an activation of its k-th chunk, in
/// the order of stages_of, weighs weights[k]. If all weights are 1, this is max_in_flight. Exact,
/// except for V schedules with fewer microbatches than they could hold, where it is an upper bound.
double max_held(const PipelineShape& shape, i64 pp_rank, std::span<const double> weights);

/// Returns the number of cells of the whole pipeline, or nullopt if it exceeds 64 bits.
std::optional<i64> cell_count(const PipelineShape& shape);

}  // namespace rankwright::pipeline
