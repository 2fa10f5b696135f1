#include "rankwright/cost/outlook.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "rankwright/cost/work.h"
#include "tests/sample.h"

namespace rankwright {
namespace {

/// A device of 2 FLOP/s, of which half are assumed: a FLOP takes a second.
Setup setup_of(Plan plan) {
  Setup setup = sample::dense_setup(plan);
  setup.cluster.device.bf16 = FlopsPerSecond{1 / kAssumedEfficiency};
  return setup;
}

PricedTraffic row_of(GroupKind group, Seconds total) {
  return {.traffic = {.kind = {}, .op = {}, .group = group}, .span = {}, .total = total};
}

TEST(Peak, IsOfTheFormatOrWhatStandsInForIt) {
  Device device{.fp16 = 1.0_TFLOPS, .bf16 = 2.0_TFLOPS, .fp8 = 4.0_TFLOPS};
  EXPECT_EQ(peak(device, Dtype::bf16), 2.0_TFLOPS);
  EXPECT_EQ(peak(device, Dtype::fp8), 4.0_TFLOPS);
  device.fp8 = device.bf16 = {};
  EXPECT_EQ(peak(device, Dtype::fp8), 1.0_TFLOPS);
}

TEST(Outlook, ComputesForwardOnceAndBackwardTwice) {
  // 4 microbatches x 2048 tokens, over tp 2 x cp 2
  const rankwright::Setup setup = setup_of({.tp = 2, .cp = 2});
  EXPECT_DOUBLE_EQ(outlook(setup, {}).compute.value, 3 * 4 * 2048 / 4 * work(setup)[0].value);
}

TEST(Outlook, ComputesRecomputedLayersOnceMore) {
  const rankwright::Setup setup = setup_of({.recompute = Recompute::full, .recompute_layers = 3});
  EXPECT_DOUBLE_EQ(outlook(setup, {}).compute.value,
                   4 * 2048 * (3 * work(setup)[0].value + work_again(setup)[0].value));
}

TEST(Outlook, GoesAtThePaceOfTheBusiestRank) {
  const rankwright::Setup setup = setup_of({.pp = 4});  // the last one, with the head
  const Outlook look = outlook(setup, {});
  EXPECT_DOUBLE_EQ(look.compute.value, 4 * 2048 * 3 * work(setup)[3].value);
  EXPECT_DOUBLE_EQ(look.bubble.value, look.compute.value * 3 / 4);  // (4 - 1) / 4 microbatches
}

TEST(Outlook, AddsUpTrafficByAxis) {
  const Outlook look =
      outlook(setup_of({}), {row_of(GroupKind::tp, 1.0_s), row_of(GroupKind::tp, 2.0_s),
                             row_of(GroupKind::cp, 4.0_s), row_of(GroupKind::ep, 8.0_s),
                             row_of(GroupKind::etp, 16.0_s), row_of(GroupKind::pp, 32.0_s),
                             row_of(GroupKind::dp_cp, 64.0_s), row_of(GroupKind::edp, 128.0_s)});
  EXPECT_EQ(look.tensor, 3.0_s);
  EXPECT_EQ(look.context, 4.0_s);
  EXPECT_EQ(look.expert, 24.0_s);
  EXPECT_EQ(look.pipeline, 32.0_s);
  EXPECT_EQ(look.data, 192.0_s);
}

TEST(Outlook, ShowsTheMirrorInFull) {
  const rankwright::Setup setup = setup_of({});
  const Outlook look = outlook(setup, {row_of(GroupKind::mirror, 5.0_s)});
  EXPECT_EQ(look.mirror, 5.0_s);
  EXPECT_EQ(look.data, 0.0_s);
  EXPECT_DOUBLE_EQ(look.step().value, look.compute.value + 5);
}

TEST(Outlook, ComputesAsMuchInAMirrorAsInALine) {
  // Inner ranks compute the same; the head is on two ranks, for half of the 8 microbatches each.
  rankwright::Setup line = setup_of({.pp = 4}), mirror = line;
  line.job.global_batch = mirror.job.global_batch = 8;
  mirror.plan.schedule = Schedule::dualpipe;
  const double head = 2 * 32'768'000.0;  // forward, a token
  EXPECT_NEAR(outlook(line, {}).compute.value - outlook(mirror, {}).compute.value,
              8 * 2048 * 3 * head / 2, 1e-3);
}

TEST(Outlook, HidesGradientsBehindTheLastBackward) {
  rankwright::Setup setup = setup_of({.dp = 2});
  const Seconds compute = outlook(setup, {}).compute;
  const std::vector<PricedTraffic> rows{row_of(GroupKind::dp_cp, compute)};
  // two thirds of one microbatch of 4: a sixth of compute
  EXPECT_NEAR(outlook(setup, rows).data_shown / compute, 5.0 / 6, 1e-12);
  setup.plan.zero = 2;  // every microbatch reduces: behind all of compute
  EXPECT_EQ(outlook(setup, rows).data_shown, 0.0_s);
  setup.plan.overlap.grad_reduce = false;
  EXPECT_EQ(outlook(setup, rows).data_shown, compute);
}

TEST(Outlook, NamesWhatStopsTheStepLargestFirst) {
  const Outlook look{.tensor = 1.0_s, .pipeline = 3.0_s, .bubble = 2.0_s, .data = 9.0_s};
  std::vector<std::string_view> names;
  for (const Outlook::Part& part : look.parts()) names.push_back(part.name);
  EXPECT_THAT(names,
              testing::ElementsAre("pipeline sends", "the pipeline bubble", "tensor parallelism"));
}

RC_GTEST_PROP(Outlook, IsTheSumOfItsParts, ()) {
  Setup setup = sample::random_setup();
  setup.cluster.device.bf16 = 1.0_TFLOPS;
  setup.cluster.levels[0].bandwidth = 1.0_GBps;
  const Outlook look = outlook(setup, priced(setup, 0));
  double sum = look.compute.value;
  for (const Outlook::Part& part : look.parts()) sum += part.time.value;
  RC_ASSERT(std::abs(look.step().value - sum) <= 1e-9 * sum);
  RC_ASSERT(look.data_shown <= look.data && look.compute.value > 0);
}

}  // namespace
}  // namespace rankwright
