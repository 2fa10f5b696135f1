// ZB-H1 (Qi et al. 2024): 1F1B's memory, and a third of its bubble if F, I and W take equal time.
#include "rankwright/pipeline/chunked_pipeline_sim.h"
#include "rankwright/pipeline/held.h"
#include "rankwright/pipeline/rows.h"
#include "rankwright/pipeline/shared_orders.h"

namespace rankwright::pipeline {

constinit const ScheduleRow kZbH1{
    .schedule = Schedule::zb_h1,
    .name = "zb-h1",
    .splits_backward = true,
    .order = build_deferred_wgrad,
    .in_flight = [](const PipelineShape& s, i64) { return s.pp; },
    .held = held_by_one_chunk,
    .bubble = [](double pp, double) { return (pp - 1) * (kF + kI - kW); },  // B3
    .time = [](const PipelineTask& task) { return chunked_time_of_whole_step(task, 1); },
};

}  // namespace rankwright::pipeline
