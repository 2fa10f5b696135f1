// GPipe (Huang et al. 2019): all forwards, then all backwards.
#include "rankwright/pipeline/held.h"
#include "rankwright/pipeline/rows.h"
#include "rankwright/pipeline/shared_orders.h"

namespace rankwright::pipeline {

constinit const ScheduleRow kGpipe{
    .schedule = Schedule::gpipe,
    .name = "gpipe",
    .order = breadth_first_order,
    .in_flight = all_in_flight,
    .held = held_by_one_chunk,
    .bubble = [](double pp, double) { return (pp - 1) * (kF + kB); },  // B1
    .time = breadth_first_time,
};

}  // namespace rankwright::pipeline
