// DualPipe (DeepSeek-V3 report): every stage is on two ranks, and half of the microbatches enter at
// each end. It takes twice the parameter memory and halves the bubble.
#include <algorithm>

#include "rankwright/pipeline/held.h"
#include "rankwright/pipeline/rows.h"
#include "rankwright/pipeline/shared_orders.h"
#include "rankwright/pipeline/v_shape.h"

namespace rankwright::pipeline {
namespace {

Sequences dualpipe_order(const PipelineShape& shape) {
  const i64 pp = shape.pp;
  const i64 half = shape.microbatches / 2;
  Sequences ranks;
  for (i64 r = 0; r < pp; ++r) {
    const ChunkStream down{.stage = r, .first = 0};
    const ChunkStream up{.stage = pp - 1 - r, .first = half};
    const bool first_half = r < pp / 2;
    ranks.push_back(expand_runs(dualpipe_runs(pp / 2, std::min(r, pp - 1 - r), half), half,
                                {first_half ? down : up, first_half ? up : down}));
  }
  return ranks;
}

/// Returns the time of one half of the ranks: a dualpipe-v whose microbatches turn back over a
/// send. The other half is its mirror image.
double dualpipe_time(const PipelineTask& task) {
  const i64 ranks = task.shape.pp / 2, m = task.shape.microbatches / 2;
  return v_shape_time(task,
                      {.ranks = ranks, .microbatches = m, .runs = dualpipe_runs, .turn = task.hop},
                      SampledMicrobatches::spread(m, ranks, 4));
}

}  // namespace

constinit const ScheduleRow kDualpipe{
    .schedule = Schedule::dualpipe,
    .name = "dualpipe",
    .stage_order = StageOrder::mirror,
    .multiple = 2,
    .rounds = 2,
    .splits_backward = true,
    .order = dualpipe_order,
    .in_flight = [](const PipelineShape& s, i64) { return s.pp + 1; },
    .held =
        [](const PipelineShape& s, i64 r, std::span<const double> weights) {
          const i64 depth = std::min(r, s.pp - 1 - r);
          return held_by_two_streams(s, weights, s.pp - depth, depth + 1);
        },
    .bubble =
        [](double pp, double) {
          return std::max(0.0, pp / 2 - 1) * (kF + kB + kB - 3 * kW);  // B5
        },
    .time = dualpipe_time,
};

}  // namespace rankwright::pipeline
