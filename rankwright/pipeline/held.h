// The maximum activations held by a pp rank, for the rows of schedules that share a formula, and a
// lower bound for all of them.
#pragma once

#include <span>

#include "rankwright/pipeline/schedule.h"

namespace rankwright::pipeline {

/// Returns chunks * microbatches: nothing is freed before everything is held.
inline i64 all_in_flight(const PipelineShape& s, i64) { return s.chunks * s.microbatches; }

/// Returns the maximum held weight of a schedule with one chunk.
double held_by_one_chunk(const PipelineShape& shape, i64 pp_rank, std::span<const double> weights);

/// Returns the maximum held weight of a schedule with all forwards before all backwards.
double held_by_all_chunks(const PipelineShape& shape, i64 pp_rank, std::span<const double> weights);

/// Returns the maximum held weight of a schedule in ChunkOrder.
double held_in_chunk_order(const PipelineShape& shape, i64 pp_rank,
                           std::span<const double> weights);

/// Returns the weight of `near` activations of chunk 0 and `far` activations of chunk 1.
double held_by_two_streams(const PipelineShape& shape, std::span<const double> weights, i64 near,
                           i64 far);

/// Returns a number of microbatches for which a pp rank holds the activations of all its chunks at
/// once, so that max_held is at least this many times the sum of the weights. Not the maximum for
/// all schedules. Requires: not a schedule that holds each stage twice.
i64 whole_in_flight(const PipelineShape& shape, i64 pp_rank);

}  // namespace rankwright::pipeline
