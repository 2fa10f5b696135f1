// Looped breadth-first (Lamy-Poirier 2023): GPipe with several chunks per rank. All microbatches
// pass through a chunk before the next one, so each layer's weights are used once per pass.
#include "rankwright/pipeline/held.h"
#include "rankwright/pipeline/rows.h"
#include "rankwright/pipeline/shared_orders.h"

namespace rankwright::pipeline {

constinit const ScheduleRow kLoopedBfs{
    .schedule = Schedule::looped_bfs,
    .name = "looped-bfs",
    .min_chunks = 2,
    .max_chunks = kAnyChunks,
    .order = breadth_first_order,
    .in_flight = all_in_flight,
    .held = held_by_all_chunks,
    .bubble = [](double pp, double chunks) { return (pp - 1) * (kF + kB) / chunks; },  // B2
    .time = breadth_first_time,
};

}  // namespace rankwright::pipeline
