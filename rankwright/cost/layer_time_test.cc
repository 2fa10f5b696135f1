#include "rankwright/cost/layer_time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "rankwright/catalog/catalog.h"
#include "tests/timed.h"

namespace rankwright {
namespace {

LayerTime time_of(const rankwright::Setup& setup, const Layer& layer, const Calibration& c) {
  const Links links(setup, c);
  return layer_time(setup, layer, rates(setup, c), links, block_time(setup, links, c), c);
}

LayerTime dense_time(const rankwright::Setup& setup, const Calibration& c = calibration()) {
  return time_of(setup, sample::dense_layer(), c);
}

rankwright::Setup dense(Plan plan = {}) { return sample::timed(sample::dense_setup(plan)); }

TEST(LayerTime, OfOneRankHasNoTraffic) {
  const LayerTime t = dense_time(dense());
  for (const Pass& pass : {t.forward, t.input, t.weight})
    EXPECT_EQ(pass.tp + pass.cp + pass.ep, Seconds{});
  EXPECT_EQ(t.forward.permute + t.forward.casts, Seconds{});
  EXPECT_EQ(t.again, Seconds{});
}

TEST(LayerTime, OfMatmulsIsTheirFlopsWhereNothingElseCounts) {
  // 2,048 tokens through [1024 x 1536], [1024 x 1024], [1024 x 8192] and [4096 x 1024]:
  // 1,572,864 + 1,048,576 + 8,388,608 + 4,194,304 = 15,204,352 products of two, three times.
  const Calibration c = sample::plain();
  const LayerTime t = dense_time(dense(), c);
  const Seconds once = Flops{2.0 * 2048 * 15'204'352} / (c[Constant::matmul_hopper] * 989.0_TFLOPS);
  EXPECT_NEAR(t.forward.matmul / once, 1, 1e-12);
  EXPECT_NEAR(t.input.matmul / once, 1, 1e-12);
  EXPECT_NEAR(t.weight.matmul / once, 1, 1e-12);
}

TEST(LayerTime, OfAMatmulLosesHalfAWaveAndItsBytes) {
  // The worked example with waves and bytes. Half a wave of 132 tiles of 128 x 128 with the inner
  // lengths of forward, 1024 + 1024 + 1024 + 4096 = 7,168; 2 bytes for each of the weights and of
  // 2,048 x (inputs 7,168 + outputs 1536 + 1024 + 8192 + 1024 = 11,776).
  Calibration c = sample::plain();
  const Seconds bare = dense_time(dense(), c).forward.matmul;
  c[Constant::wave] = 0.5;
  const Seconds lost =
      Flops{2 * 0.5 * 132 * 128 * 128 * 7168} / (c[Constant::matmul_hopper] * 989.0_TFLOPS);
  EXPECT_NEAR((dense_time(dense(), c).forward.matmul - bare) / lost, 1, 1e-9);
  c[Constant::wave] = 0;
  c[Constant::matmul_bytes] = 1;
  const Seconds read = Bytes{2.0 * (15'204'352 + 2048.0 * (7168 + 11'776))} /
                       (c[Constant::memory_share] * 3000.0_GBps);
  EXPECT_NEAR((dense_time(dense(), c).forward.matmul - bare) / read, 1, 1e-9);
}

TEST(LayerTime, OfFusedAttentionIsHalfOfItsSquare) {
  // 2 x 2,048 tokens x 2,048 x 1,024 wide, slower by 300 / 2,048 because the sequence is short, and
  // because heads are 64 wide; backward two and a half times.
  const Calibration& c = calibration();
  const LayerTime t = dense_time(dense());
  const FlopsPerSecond rate = c[Constant::narrow_head] * c[Constant::flash3_hopper] * 989.0_TFLOPS;
  const Seconds forward = (1 + 300.0 / 2048) * (Flops{2.0 * 2048 * 2048 * 1024} / rate);
  EXPECT_NEAR(t.forward.attention / forward, 1, 1e-12);
  EXPECT_NEAR(t.input.attention / forward, 2.5, 1e-12);
}

TEST(LayerTime, OfUnfusedAttentionWritesItsScores) {
  rankwright::Setup setup = dense();
  const Seconds fused = dense_time(setup).forward.attention;
  setup.software.attention = AttentionKernel::unfused;
  // The full square twice at 0.6 of the matmuls' rate, and 11 bytes for each of 2,048 x 2,048 x 16.
  const Calibration& c = calibration();
  const Seconds products =
      Flops{4.0 * 2048 * 2048 * 1024} / (c[Constant::unfused_matmul] * rates(setup, c).half);
  const Seconds scores = 11 * c[Constant::unfused_bytes] *
                         (Bytes{2048.0 * 2048 * 16} / (c[Constant::memory_share] * 3000.0_GBps));
  EXPECT_NEAR(dense_time(setup).forward.attention / (products + scores), 1, 1e-12);
  EXPECT_GT(products + scores, fused);
}

TEST(LayerTime, OfSequenceParallelismGathersAndScattersTwice) {
  // Two blocks, each a gather and a scatter forward; backward gathers a second time, of which 0.3
  // shows. The hidden states of 2,048 tokens are 2,048 x 1,024 x 2 bytes.
  const rankwright::Setup setup = dense({.tp = 4, .sequence_parallel = true});
  const Links links(setup, calibration());
  const Bytes all{2048.0 * 1024 * 2};
  const Seconds gather = links.time(Op::all_gather, all, GroupKind::tp);
  const Seconds scatter = links.time(Op::reduce_scatter, all, GroupKind::tp);
  const LayerTime t = dense_time(setup);
  EXPECT_NEAR(t.forward.tp / (2 * (gather + scatter)), 1, 1e-12);
  EXPECT_NEAR(t.input.tp / (2 * (1.3 * gather + scatter)), 1, 1e-12);
}

TEST(LayerTime, OfASmallLayerIsWhatTheHostTakes) {
  // One token's work against a millisecond of launches: the smooth maximum is the floor.
  rankwright::Setup setup = dense();
  setup.job.sequence = 64;
  const double floor = calibration()[Constant::launch_floor] * 1e-3;
  EXPECT_NEAR(dense_time(setup).forward.total().value / floor, 1, 0.01);
  setup.software.launch = Launch::compiled;
  EXPECT_LT(dense_time(setup).forward.total().value, 0.3 * floor);
}

TEST(LayerTime, OfExpertsCrossesOnceToEachNode) {
  // 4 nodes of 2, a token visits 2 of them: 4 x (1 - (3/4)^2) = 1.75 nodes.
  rankwright::Setup setup = sample::timed(
      sample::setup_of(sample::model_of({{8, sample::sparse_layer()}}), {.dp = 8, .ep = 8}));
  const LayerTime inside = time_of(setup, sample::sparse_layer(), calibration());
  setup.cluster.levels = {{.name = "in", .arity = 2, .bandwidth = 450.0_GBps, .latency = 2.0_us},
                          {.name = "out", .arity = 4, .bandwidth = 10.0_GBps, .latency = 5.0_us}};
  const LayerTime outside = time_of(setup, sample::sparse_layer(), calibration());
  const Links links(setup, calibration());
  const Seconds exchange = links.all_to_all(Bytes{2.0 * 2048 * 2 * 1024},
                                            Bytes{2.0 * 2048 * 1024 * 1.75}, 1, GroupKind::ep);
  EXPECT_NEAR(outside.forward.ep / (2 * exchange), 1, 1e-12);
  EXPECT_GT(outside.forward.ep, inside.forward.ep);
  EXPECT_EQ(outside.forward.permute, inside.forward.permute);
}

RC_GTEST_PROP(LayerTime, IsNeverNegative, ()) {
  const rankwright::Setup setup = sample::random_timed();
  for (const LayerRun& run : setup.model.runs) {
    const LayerTime t = time_of(setup, run.layer, calibration());
    for (const Pass& p : {t.forward, t.input, t.weight})
      for (const Seconds part :
           {p.matmul, p.attention, p.elementwise, p.casts, p.permute, p.tp, p.cp, p.ep, p.launch})
        RC_ASSERT(part >= Seconds{} && std::isfinite(part.value));
    RC_ASSERT(t.again >= Seconds{});
  }
}

RC_GTEST_PROP(LayerTime, IsNeverLongerInFewerBits, ()) {
  rankwright::Setup setup = sample::random_timed();
  setup.job.param_dtype = Dtype::bf16;
  const Layer& layer = setup.model.runs.front().layer;
  const LayerTime half = time_of(setup, layer, calibration());
  setup.job.matmul = Matmul::fp8;
  const LayerTime eight = time_of(setup, layer, calibration());
  RC_ASSERT(eight.forward.matmul <= half.forward.matmul);
  RC_ASSERT(eight.weight.matmul <= half.weight.matmul);
  RC_ASSERT(eight.forward.casts > half.forward.casts);
}

RC_GTEST_PROP(LayerTime, HidesNoMoreThanThereIs, ()) {
  rankwright::Setup setup = sample::random_timed();
  const Layer& layer = setup.model.runs.front().layer;
  setup.plan.overlap.tp = false;
  const LayerTime shown = time_of(setup, layer, calibration());
  setup.plan.overlap.tp = true;
  RC_ASSERT(time_of(setup, layer, calibration()).forward.tp <= shown.forward.tp);
}

}  // namespace
}  // namespace rankwright
