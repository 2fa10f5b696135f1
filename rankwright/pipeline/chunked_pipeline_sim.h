// The followed simulate (PT1) of a schedule whose forwards come in one order and whose backwards in
// its mirror, on every rank the same: 1f1b, interleaved, zb-h1 and interleaved-zb. It goes along
// the way of a microbatch, so that what a rank has done before is counted on from its neighbour
// (PT3).
#pragma once

#include <memory_resource>
#include <span>

#include "rankwright/pipeline/sampled_pipeline_sim.h"
#include "rankwright/pipeline/schedule.h"

namespace rankwright::pipeline {

struct ChunkEnd {
  double end = 0;   // of the last cell of all
  double rate = 0;  // seconds a microbatch between followed ones, neither first nor last (PT7)
};

/// `followed` in rising order, the first and the last microbatch among them.
ChunkEnd chunk_play(const PipelineShape& shape, std::span<const CellDurations> times, double hop,
                    std::span<const double> followed, std::pmr::memory_resource* room);

}  // namespace rankwright::pipeline
