// Interleaved zero-bubble: ZB-H1 with several chunks per rank, as in torch's
// ScheduleInterleavedZeroBubble.
#include "rankwright/pipeline/chunk_order.h"
#include "rankwright/pipeline/chunked_pipeline_sim.h"
#include "rankwright/pipeline/held.h"
#include "rankwright/pipeline/rows.h"
#include "rankwright/pipeline/shared_orders.h"

namespace rankwright::pipeline {

constinit const ScheduleRow kInterleavedZb{
    .schedule = Schedule::interleaved_zb,
    .name = "interleaved-zb",
    .min_chunks = 2,
    .max_chunks = kAnyChunks,
    .groups = true,
    .splits_backward = true,
    .order = build_deferred_wgrad,
    .in_flight = [](const PipelineShape& s,
                    i64) { return s.pp + (s.chunks - 1) * ChunkOrder(s).group(); },
    .held = held_in_chunk_order,
    .bubble = [](double pp, double chunks) { return (pp - 1) * (kF + kI - kW) / chunks; },  // B3
    .time = [](const PipelineTask& task) { return chunked_time(task, 1); },
};

}  // namespace rankwright::pipeline
