// Looped breadth-first (Lamy-Poirier 2023): GPipe with several chunks per rank. All microbatches
// pass through a chunk before the next one, so each layer's weights are used once per pass.
#include <algorithm>

#include "rankwright/pipeline/held.h"
#include "rankwright/pipeline/rows.h"
#include "rankwright/pipeline/shared_orders.h"

namespace rankwright::pipeline {
namespace {

/// Returns the breadth-first order with the microbatches of each chunk's backwards reversed, as
/// torch's ScheduleLoopedBFS runs them. The time is the same: only the numbers change.
Sequences looped_bfs_order(const PipelineShape& shape) {
  Sequences ranks = breadth_first_order(shape);
  for (Sequence& line : ranks)
    for (i64 first = shape.chunks * shape.microbatches; first < i64(line.size());
         first += shape.microbatches)
      std::reverse(line.begin() + first, line.begin() + first + shape.microbatches);
  return ranks;
}

}  // namespace

constinit const ScheduleRow kLoopedBfs{
    .schedule = Schedule::looped_bfs,
    .name = "looped-bfs",
    .min_chunks = 2,
    .max_chunks = kAnyChunks,
    .order = looped_bfs_order,
    .in_flight = all_in_flight,
    .held = held_by_all_chunks,
    .bubble = [](double pp, double chunks) { return (pp - 1) * (kF + kB) / chunks; },  // B2
    .time = breadth_first_time,
};

}  // namespace rankwright::pipeline
