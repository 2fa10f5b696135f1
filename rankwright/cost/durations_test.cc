#include "rankwright/cost/durations.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "rankwright/cost/outlook.h"
#include "rankwright/cost/priced.h"
#include "rankwright/model/flops.h"
#include "rankwright/program/body.h"
#include "rankwright/program/expand.h"
#include "tests/sample.h"
#include "tests/setups.h"

namespace rankwright {
namespace {

TEST(Durations, MatchTheWorkedExample) {
  // 16 layers on 2 pp ranks, nothing else is split: 8 layers on each, the head on the last.
  const rankwright::Setup setup = setup_of(
      "model: llama-3.2-1b\ncluster: dgx-h100\njob: {global_batch: 4, sequence: 2048}\n"
      "parallelism: {pp_size: 2}\n");
  const Program program = expand(setup);
  const Durations times = durations(setup, program);
  const FlopsPerSecond rate = kAssumedEfficiency * setup.cluster.device.bf16;
  const Seconds layer = 2048.0 * forward_flops(setup.model, setup.model.layer(0), 2048) / rate;
  const Seconds head = 2048.0 * head_forward_flops(setup.model) / rate;
  const auto near = [](Seconds a, Seconds b) { EXPECT_NEAR(a / b, 1, 1e-12); };
  near(times.cells[0][0], 8 * layer);
  near(times.cells[0][1], 16 * layer);
  near(times.cells[1][0], 8 * layer + head);
  near(times.cells[1][3], 8 * layer + head);
  // A microbatch's hidden states, 2,048 x 2,048 x 2 bytes, over one NVLink of 450 GB/s.
  EXPECT_EQ(transfer_bytes(setup, 0), Bytes{2048.0 * 2048 * 2});
  EXPECT_GE(times.activation[0], Bytes{2048.0 * 2048 * 2} / BytesPerSecond{450e9});
}

TEST(Durations, PlayToTheOutlooksCompute) {
  // Without collectives inside cells the busiest rank computes what O1 says.
  const rankwright::Setup setup = setup_of(
      "model: llama-3.2-1b\ncluster: dgx-h100\njob: {global_batch: 16, sequence: 2048}\n"
      "parallelism: {pp_size: 4}\n");
  const Program program = expand(setup);
  const Timeline timeline = play(program, durations(setup, program));
  const Outlook look = outlook(setup, priced(setup, 3));
  const Seconds busiest = *std::max_element(timeline.busy.begin(), timeline.busy.end());
  EXPECT_NEAR(busiest / look.compute, 1, 1e-12);
}

/// Any plan, on links that have a speed.
rankwright::Setup any_setup() {
  rankwright::Setup setup = sample::random_setup();
  RC_PRE(!shape_fault(pipeline_shape(setup)));
  setup.cluster.device.bf16 = setup.cluster.device.fp16 = 1000.0_TFLOPS;
  setup.cluster.device.memory_bandwidth = 3000.0_GBps;
  for (Level& level : setup.cluster.levels) {
    level.bandwidth = 100.0_GBps;
    level.latency = 5.0_us;
  }
  return setup;
}

RC_GTEST_PROP(Durations, OfABackwardAreThoseOfItsHalves, ()) {
  const rankwright::Setup setup = any_setup();
  const Program program = expand(setup);
  const Durations times = durations(setup, program);
  RC_ASSERT(i64(times.cells.size()) == program.stages);
  for (const std::array<Seconds, 4>& stage : times.cells) {
    const Seconds halves = stage[2] + stage[3];
    RC_ASSERT(std::abs((stage[1] - halves).value) <= 1e-9 * halves.value);
  }
}

RC_GTEST_PROP(Durations, LetEveryPlanBePlayed, ()) {
  const rankwright::Setup setup = any_setup();
  const Program program = expand(setup);
  const Timeline timeline = play(program, durations(setup, program));
  RC_ASSERT(std::isfinite(timeline.end.value));
  for (const Seconds& busy : timeline.busy) RC_ASSERT(busy <= timeline.end);
}

}  // namespace
}  // namespace rankwright
