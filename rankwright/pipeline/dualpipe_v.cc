// DualPipeV: DualPipe folded at its middle, two chunks per rank in a V shape and no second copy of
// the parameters.
#include "rankwright/pipeline/held.h"
#include "rankwright/pipeline/rows.h"
#include "rankwright/pipeline/shared_orders.h"
#include "rankwright/pipeline/v_shape.h"

namespace rankwright::pipeline {
namespace {

Sequences dualpipe_v_order(const PipelineShape& s) {
  Sequences ranks;
  for (i64 r = 0; r < s.pp; ++r)
    ranks.push_back(expand_runs(dualpipe_runs(s.pp, r, s.microbatches), s.microbatches,
                                {{{.stage = r}, {.stage = 2 * s.pp - 1 - r}}}));
  return ranks;
}

}  // namespace

constinit const ScheduleRow kDualpipeV{
    .schedule = Schedule::dualpipe_v,
    .name = "dualpipe-v",
    .stage_order = StageOrder::vee,
    .min_chunks = 2,
    .max_chunks = 2,
    .rounds = 2,
    .splits_backward = true,
    .order = dualpipe_v_order,
    .in_flight = [](const PipelineShape& s, i64) { return 2 * s.pp + 1; },
    .held =
        [](const PipelineShape& s, i64 r, std::span<const double> weights) {
          return held_by_two_streams(s, weights, 2 * s.pp - r, r + 1);
        },
    .bubble =
        [](double pp, double) {
          return (pp - 1) * (kF + kB + kB - 3 * kW) / 2;  // B5 on half-sized stages
        },
    .time =
        [](const PipelineTask& task) {
          const i64 pp = task.shape.pp, m = task.shape.microbatches;
          return v_shape_time(task, {.ranks = pp, .microbatches = m, .runs = dualpipe_runs},
                              SampledMicrobatches::spread(m, pp, 3));
        },
};

}  // namespace rankwright::pipeline
