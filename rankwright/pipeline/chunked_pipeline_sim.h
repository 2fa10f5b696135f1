// The sampled simulation (PT1) of schedules in which all ranks run forwards in one order and
// backwards in its mirror image: 1f1b, interleaved, zb-h1 and interleaved-zb. It follows each
// sampled microbatch from rank to rank, so that the work before a cell is derived incrementally
// from the adjacent rank (PT3).
#pragma once

#include <memory_resource>
#include <span>

#include "rankwright/pipeline/sampled_pipeline_sim.h"
#include "rankwright/pipeline/schedule.h"

namespace rankwright::pipeline {

/// The result of a sampled simulation, in seconds.
struct ChunkEnd {
  double end = 0;   // end of the last cell
  double rate = 0;  // maximum time per microbatch between inner sampled ones (PT7)
};

/// Simulates the sampled microbatches. `times` are by stage, `hop` is the time of one send.
/// Requires: `sampled` is in increasing order and contains the first and the last microbatch.
ChunkEnd chunk_play(const plan::PipelineShape& shape, std::span<const CellDurations> times,
                    double hop, std::span<const double> sampled, std::pmr::memory_resource* memory);

}  // namespace rankwright::pipeline
