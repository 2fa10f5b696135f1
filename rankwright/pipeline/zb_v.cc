// ZB-V (Qi et al. 2024, "Pipeline parallelism with controllable memory"): two chunks per rank in a
// V shape, so that the first rank also has the last stage. Every rank holds at most 2 pp
// activations.
#include <algorithm>

#include "rankwright/pipeline/held.h"
#include "rankwright/pipeline/rows.h"
#include "rankwright/pipeline/shared_orders.h"
#include "rankwright/pipeline/v_shape.h"

namespace rankwright::pipeline {

RunList zb_v_runs(i64 pp, i64 r, i64 microbatches) {
  static constexpr Pattern kDown("F0"), kBoth("F1 F0"), kFirst("F1 I1 W1"),
      kSteady("F0 I0 W0 F1 I1 W1"), kInputs("I0 I1"), kNear("I0 W0"), kFarWeights("W1"),
      kNearWeights("W0");
  const i64 m = std::max(2 * pp - 1, microbatches);
  return {
      // Warm-up: forwards of chunk 0 until the first microbatch comes back, then of both chunks in
      // turn, then the first gradients of chunk 1.
      {&kDown, 2 * (pp - r) - 1},
      {&kBoth, r},
      {&kFirst, pp - r},
      {&kSteady, m - pp},  // the last pp - r - 1 forwards of chunk 0 are left out
      // Drain: input gradients first, then weight gradients where the rank would wait.
      {&kInputs, r},
      {&kNear, pp - r},
      {&kFarWeights, r},
      {&kNearWeights, r},
  };
}

namespace {

Sequences zb_v_order(const PipelineShape& s) {
  Sequences ranks;
  for (i64 r = 0; r < s.pp; ++r)
    ranks.push_back(expand_runs(zb_v_runs(s.pp, r, s.microbatches), s.microbatches,
                                {{{.stage = r}, {.stage = 2 * s.pp - 1 - r}}}));
  return ranks;
}

}  // namespace

constinit const ScheduleRow kZbV{
    .schedule = Schedule::zb_v,
    .name = "zb-v",
    .stage_order = StageOrder::vee,
    .min_chunks = 2,
    .max_chunks = 2,
    .splits_backward = true,
    .order = zb_v_order,
    .in_flight = [](const PipelineShape& s, i64) { return 2 * s.pp; },
    .held =
        [](const PipelineShape& s, i64 r, std::span<const double> weights) {
          return std::max(held_by_two_streams(s, weights, 2 * s.pp - r, r),
                          held_by_two_streams(s, weights, 2 * s.pp - r - 1, r + 1));
        },
    .bubble = [](double pp, double chunks) { return (pp - 1) * kF / chunks; },  // B4
    .time =
        [](const PipelineTask& task) {
          const i64 pp = task.shape.pp, m = task.shape.microbatches;
          return v_shape_time(task, {.ranks = pp, .microbatches = m, .runs = zb_v_runs},
                              SampledMicrobatches::spread(m, pp, 3));
        },
};

}  // namespace rankwright::pipeline
