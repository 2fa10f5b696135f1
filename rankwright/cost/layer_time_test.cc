#include "rankwright/cost/layer_time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "rankwright/catalog/catalog.h"
#include "rankwright/plan/messages.h"
#include "tests/support/timed_configs.h"

namespace rankwright::cost {
namespace layer_time_test {

using K = plan::TrafficKind;

LayerTime time_of(const rankwright::plan::TrainingConfig& config, const model::Layer& layer,
                  const cluster::Calibration& c) {
  const Links links(config, c);
  return estimate_layer_time(config, layer, compute_rates(config, c), links,
                             TensorComm(config, links, c), c);
}

LayerTime estimate_dense_time(const rankwright::plan::TrainingConfig& config,
                              const cluster::Calibration& c = catalog::get_calibration()) {
  return time_of(config, sample::dense_layer(), c);
}

rankwright::plan::TrainingConfig dense(plan::Plan plan = {}) {
  return sample::timed(sample::dense_config(plan));
}

rankwright::plan::TrainingConfig sparse(plan::Plan plan) {
  return sample::timed(sample::config_of(sample::model_of({{8, sample::sparse_layer()}}), plan));
}

TEST(LayerTime, OneRankHasNoTraffic) {
  const LayerTime t = estimate_dense_time(dense());
  for (const Pass& pass : {t.forward, t.input, t.weight})
    EXPECT_EQ((pass.tp + pass.cp + pass.ep).total(), Seconds{});
  EXPECT_EQ(t.forward.permute + t.forward.casts, Seconds{});
  EXPECT_EQ(t.again.total(), Seconds{});
}

TEST(LayerTime, MatmulsTakeTheirFlops) {
  // 2,048 tokens through [1024 x 1536], [1024 x 1024], [1024 x 8192] and [4096 x 1024]:
  // 1,572,864 + 1,048,576 + 8,388,608 + 4,194,304 = 15,204,352 multiply-adds per token, in three
  // passes.
  const cluster::Calibration c = sample::plain();
  const LayerTime t = estimate_dense_time(dense(), c);
  const Seconds once =
      Flops{2.0 * 2048 * 15'204'352} / (c[cluster::Constant::matmul_hopper] * 989.0_TFLOPS);
  EXPECT_NEAR(t.forward.matmul / once, 1, 1e-12);
  EXPECT_NEAR(t.input.matmul / once, 1, 1e-12);
  EXPECT_NEAR(t.weight.matmul / once, 1, 1e-12);
}

TEST(LayerTime, MatmulsLoseHalfAWaveAndTheirBytes) {
  // The worked example with waves and bytes. Half a wave of 132 tiles of 128 x 128 with the inner
  // dimensions of the forward, 1024 + 1024 + 1024 + 4096 = 7,168; 2 bytes per weight and per one of
  // 2,048 x (inputs 7,168 + outputs 1536 + 1024 + 8192 + 1024 = 11,776).
  cluster::Calibration c = sample::plain();
  const Seconds bare = estimate_dense_time(dense(), c).forward.matmul;
  c[cluster::Constant::wave] = 0.5;
  const Seconds lost = Flops{2 * 0.5 * 132 * 128 * 128 * 7168} /
                       (c[cluster::Constant::matmul_hopper] * 989.0_TFLOPS);
  EXPECT_NEAR((estimate_dense_time(dense(), c).forward.matmul - bare) / lost, 1, 1e-9);
  c[cluster::Constant::wave] = 0;
  c[cluster::Constant::matmul_bytes] = 1;
  const Seconds read = Bytes{2.0 * (15'204'352 + 2048.0 * (7168 + 11'776))} /
                       (c[cluster::Constant::memory_share] * 3000.0_GBps);
  EXPECT_NEAR((estimate_dense_time(dense(), c).forward.matmul - bare) / read, 1, 1e-9);
}

TEST(LayerTime, FusedAttentionComputesHalfTheSquare) {
  // 2 x 2,048 tokens x 2,048 x a width of 1,024; slower by 300 / 2,048 because the sequence is
  // short, and slower because heads are 64 wide; the backward takes 2.5 times as long.
  const cluster::Calibration& c = catalog::get_calibration();
  const LayerTime t = estimate_dense_time(dense());
  const FlopsPerSecond rate =
      c[cluster::Constant::narrow_head] * c[cluster::Constant::flash3_hopper] * 989.0_TFLOPS;
  const Seconds forward = (1 + 300.0 / 2048) * (Flops{2.0 * 2048 * 2048 * 1024} / rate);
  EXPECT_NEAR(t.forward.attention / forward, 1, 1e-12);
  EXPECT_NEAR(t.input.attention / forward, 2.5, 1e-12);
}

TEST(LayerTime, UnfusedAttentionWritesItsScores) {
  rankwright::plan::TrainingConfig config = dense();
  const Seconds fused = estimate_dense_time(config).forward.attention;
  config.software.attention = plan::AttentionKernel::unfused;
  // The full square twice at 0.6 of the matmul rate, and 11 bytes per score, 2,048 x 2,048 x 16.
  const cluster::Calibration& c = catalog::get_calibration();
  const Seconds products = Flops{4.0 * 2048 * 2048 * 1024} /
                           (c[cluster::Constant::unfused_matmul] * compute_rates(config, c).half);
  const Seconds scores =
      11 * c[cluster::Constant::unfused_bytes] *
      (Bytes{2048.0 * 2048 * 16} / (c[cluster::Constant::memory_share] * 3000.0_GBps));
  EXPECT_NEAR(estimate_dense_time(config).forward.attention / (products + scores), 1, 1e-12);
  EXPECT_GT(products + scores, fused);
}

TEST(LayerTime, SequenceParallelismGathersAndScattersTwice) {
  // Two blocks, each with a gather and a reduce-scatter in the forward. The backward gathers a
  // second time, of which 0.3 is exposed. The hidden states of 2,048 tokens are 2,048 x 1,024 x 2
  // bytes.
  const rankwright::plan::TrainingConfig config = dense({.tp = 4, .sequence_parallel = true});
  const Links links(config, catalog::get_calibration());
  const Bytes all{2048.0 * 1024 * 2};
  const Seconds gather =
      links.time(K::tp_all_gather, plan::Op::all_gather, all, mesh::GroupKind::tp);
  const Seconds scatter =
      links.time(K::tp_reduce_scatter, plan::Op::reduce_scatter, all, mesh::GroupKind::tp);
  const LayerTime t = estimate_dense_time(config);
  EXPECT_NEAR(t.forward.tp.exposed / (2 * (gather + scatter)), 1, 1e-12);
  EXPECT_EQ(t.forward.tp.overlapped, Seconds{});
  EXPECT_NEAR(t.input.tp.exposed / (2 * (1.3 * gather + scatter)), 1, 1e-12);
  EXPECT_NEAR(t.input.tp.overlapped / (2 * 0.7 * gather), 1, 1e-12);
}

TEST(LayerTime, SmallLayerIsBoundByLaunches) {
  // The work of one token is negligible next to a millisecond of launches.
  rankwright::plan::TrainingConfig config = dense();
  config.job.sequence = 64;
  const double floor = catalog::get_calibration()[cluster::Constant::launch_floor] * 1e-3;
  EXPECT_NEAR(estimate_dense_time(config).forward.total().value / floor, 1, 0.01);
  config.software.launch = plan::Launch::compiled;
  EXPECT_LT(estimate_dense_time(config).forward.total().value, 0.3 * floor);
}

/// The sample config on probed CPUs, in fp32.
rankwright::plan::TrainingConfig on_cpus(plan::Plan plan = {}) {
  rankwright::plan::TrainingConfig config = dense(plan);
  config.cluster.device = {.name = "cpu",
                           .memory = 1.0_GB,
                           .memory_bandwidth = 4.0_GBps,
                           .bf16 = 0.02_TFLOPS,
                           .generation = "cpu",
                           .best_matmul = 0.02_TFLOPS,
                           .launch = 2.0_us};
  config.job.param_dtype = plan::Dtype::fp32;
  return config;
}

TEST(LayerTime, CpuUsesMeasuredRatesAndAddsLaunches) {
  // The 15,204,352 multiply-adds of the worked example at 20 GFLOP/s, plus 50 operations of 2 us in
  // the forward and 70 in the backward.
  const rankwright::plan::TrainingConfig config = on_cpus();
  const LayerTime t = estimate_dense_time(config, select_calibration(config));
  const Seconds once = Flops{2.0 * 2048 * 15'204'352} / 0.02_TFLOPS;
  for (const Pass& pass : {t.forward, t.input, t.weight}) EXPECT_NEAR(pass.matmul / once, 1, 1e-12);
  EXPECT_NEAR(t.forward.launch.value, 100e-6, 1e-12);
  EXPECT_NEAR((t.input.launch + t.weight.launch).value, 140e-6, 1e-12);
}

TEST(LayerTime, CpuWaitsForTheSecondGather) {
  const rankwright::plan::TrainingConfig config = on_cpus({.tp = 2, .sequence_parallel = true});
  const cluster::Calibration& c = select_calibration(config);
  const Links links(config, c);
  const TensorComm::Passes block = TensorComm(config, links, c).block(compute_block_inputs(config));
  const Bytes all = compute_messages(config).hidden;
  EXPECT_NEAR((block.backward.exposed - block.forward.exposed) /
                  links.time(K::tp_all_gather, plan::Op::all_gather, all, mesh::GroupKind::tp),
              1, 1e-9);
  EXPECT_EQ(block.backward.overlapped, Seconds{});
}

TEST(LayerTime, CpuMovesTwiceTheBytesInFp32) {
  rankwright::plan::TrainingConfig config = on_cpus();
  const Seconds wide = estimate_dense_time(config, select_calibration(config)).forward.elementwise;
  config.job.param_dtype = plan::Dtype::bf16;
  EXPECT_NEAR(wide / estimate_dense_time(config, select_calibration(config)).forward.elementwise, 2,
              1e-12);
}

TEST(LayerTime, DeepEpTokensCrossOncePerNode) {
  // 4 nodes of 2, a token visits 2 of 8 experts: 4 x (1 - (3/4)^2) = 1.75 nodes instead of 2
  // copies, and inside a node 8 x (1 - (7/8)^2) = 1.875 ranks, which 20 multiprocessors copy. Both
  // limit each other. The placement changes the exchange, not the permutation of tokens on a rank.
  rankwright::plan::TrainingConfig config =
      sparse({.dp = 8, .ep = 8, .dispatcher = plan::Dispatcher::deepep});
  const LayerTime inside = time_of(config, sample::sparse_layer(), catalog::get_calibration());
  config.cluster.levels = {{.name = "in", .arity = 2, .bandwidth = 450.0_GBps, .latency = 2.0_us},
                           {.name = "out", .arity = 4, .bandwidth = 10.0_GBps, .latency = 5.0_us}};
  const LayerTime outside = time_of(config, sample::sparse_layer(), catalog::get_calibration());
  config.plan.dispatcher = plan::Dispatcher::alltoall;
  const cluster::Calibration& c = catalog::get_calibration();
  const Links links(config, c);
  const Bytes token{2.0 * 1024}, sent = 2048 * 1.75 * token, received = 2048 * 1.875 * token;
  const Seconds fixed = c[cluster::Constant::dispatch_alltoall] * 1.0_us;
  const Seconds across =
      links.time(K::ep_all_to_all, plan::Op::all_to_all, sent, mesh::GroupKind::ep) - fixed;
  const Seconds inside_node =
      std::max(links.innermost_time(plan::Op::all_to_all, received, mesh::GroupKind::ep) - fixed,
               received / (20 * c[cluster::Constant::copy_deepep] * 1.0_GBps));
  const Seconds exchange =
      Seconds{std::cbrt(std::pow(across.value, 3) + std::pow(inside_node.value, 3))} +
      c[cluster::Constant::dispatch_deepep] * 1.0_us;
  EXPECT_NEAR(outside.forward.ep.exposed / (2 * exchange), 1, 1e-12);
  EXPECT_GT(outside.forward.ep.exposed, inside.forward.ep.exposed);
  EXPECT_EQ(outside.forward.permute, inside.forward.permute);
}

TEST(LayerTime, WithoutSequenceParallelismABlockIsOneAllReduceEachWay) {
  // Attention and the shared expert, or only attention without a shared expert.
  const rankwright::plan::TrainingConfig config = sparse({.tp = 2, .dp = 4, .ep = 4});
  const Seconds reduce = Links(config, catalog::get_calibration())
                             .time(K::tp_all_reduce, plan::Op::all_reduce, Bytes{2.0 * 2048 * 1024},
                                   mesh::GroupKind::tp);
  model::Layer layer = sample::sparse_layer();
  for (const double blocks : {2.0, 1.0}) {
    const LayerTime t = time_of(config, layer, catalog::get_calibration());
    EXPECT_NEAR(t.forward.tp.exposed / (blocks * reduce), 1, 1e-12);
    EXPECT_NEAR(t.input.tp.exposed / (blocks * reduce), 1, 1e-12);
    layer.ffn.shared_width = 0;
  }
}

TEST(LayerTime, GradientsLoseWavesOfTheirInnerDimension) {
  // Half a wave of 132 tiles with the inner dimension of the pass: the outputs 1536 + 1024 + 8192 +
  // 1024 = 11,776 for the input gradient, 2,048 tokens in each of 4 matmuls for the weight
  // gradient.
  cluster::Calibration c = sample::plain();
  const LayerTime bare = estimate_dense_time(dense(), c);
  c[cluster::Constant::wave] = 0.5;
  const LayerTime t = estimate_dense_time(dense(), c);
  const Seconds one =
      Flops{2 * 0.5 * 132 * 128 * 128} / (c[cluster::Constant::matmul_hopper] * 989.0_TFLOPS);
  EXPECT_NEAR((t.input.matmul - bare.input.matmul) / one, 11'776, 1e-4);
  EXPECT_NEAR((t.weight.matmul - bare.weight.matmul) / one, 4 * 2048, 1e-4);
}

TEST(LayerTime, WeightGradientReadsAndWritesItsAccumulator) {
  // 15,204,352 weights: 8 bytes each if fp32 is read and written inside the matmul, 4 if only
  // written; and 2 bytes per input and output element, 2,048 x (7,168 + 11,776).
  cluster::Calibration c = sample::plain();
  rankwright::plan::TrainingConfig config = dense();
  const Seconds bare = estimate_dense_time(config, c).weight.matmul;
  c[cluster::Constant::matmul_bytes] = 1;
  const BytesPerSecond memory = c[cluster::Constant::memory_share] * 3000.0_GBps;
  for (const bool fused : {true, false}) {
    config.software.fused_accumulation = fused;
    const Bytes moved{(fused ? 8 : 4) * 15'204'352.0 + 2 * 2048.0 * (7168 + 11'776)};
    EXPECT_NEAR((estimate_dense_time(config, c).weight.matmul - bare) / (moved / memory), 1, 1e-9);
  }
}

TEST(LayerTime, LatentAttentionHasFiveMatmuls) {
  // Queries 1024 -> 256 -> 16 x 64; keys and values 1024 -> 128 + 32, then 128 -> 16 x (32 + 32);
  // out 512 -> 1024: 262,144 + 262,144 + 163,840 + 131,072 + 524,288 = 1,343,488, plus a
  // feed-forward of 12,582,912. Scores are 1,024 wide and values 512: 768 on average.
  model::Layer layer = sample::dense_layer();
  layer.attention = {.kind = model::Attention::Kind::latent,
                     .heads = 16,
                     .q_rank = 256,
                     .kv_rank = 128,
                     .nope_dim = 32,
                     .rope_dim = 32,
                     .value_dim = 32};
  const cluster::Calibration c = sample::plain();
  const FlopsPerSecond rate = c[cluster::Constant::matmul_hopper] * 989.0_TFLOPS;
  const LayerTime t = time_of(dense(), layer, c);
  EXPECT_NEAR(t.forward.matmul / (Flops{2.0 * 2048 * (1'343'488 + 12'582'912)} / rate), 1, 1e-12);
  const Seconds core = (1 + 300.0 / 2048) * (Flops{2.0 * 2048 * 2048 * 768} /
                                             (c[cluster::Constant::flash3_hopper] * 989.0_TFLOPS));
  EXPECT_NEAR(t.forward.attention / core, 1, 1e-12);
  // Without a query rank, queries are one matrix of 1024 x 1024.
  layer.attention.q_rank = 0;
  const Seconds whole = time_of(dense(), layer, c).forward.matmul;
  EXPECT_NEAR((whole - t.forward.matmul) / (Flops{2.0 * 2048 * 524'288} / rate), 1, 1e-9);
}

TEST(LayerTime, MemoryBoundWorkTakesItsBytes) {
  // With sequence parallelism over 4, a rank has 512 of 2,048 tokens between blocks: 22 x 1024
  // bytes each in the forward, 30 in the backward. Queries, keys and values are 256 + 64 + 64 wide:
  // 8 and 10 bytes. The gated activation of 1,024: 6 and 12.
  const LayerTime t = estimate_dense_time(dense({.tp = 4, .sequence_parallel = true}));
  const cluster::Calibration& c = catalog::get_calibration();
  const BytesPerSecond memory =
      c[cluster::Constant::memory_share] / c[cluster::Constant::elementwise] * 3000.0_GBps;
  const Bytes forward{22.0 * 1024 * 512 + 8.0 * 384 * 2048 + 6.0 * 1024 * 2048};
  const Bytes backward{30.0 * 1024 * 512 + 10.0 * 384 * 2048 + 12.0 * 1024 * 2048};
  EXPECT_NEAR(t.forward.elementwise / (forward / memory), 1, 1e-12);
  EXPECT_NEAR(t.input.elementwise / (backward / memory), 1, 1e-12);
}

TEST(LayerTime, RingExposesWhatAttentionDoesNotOverlap) {
  // 4 cp ranks: keys and values of 512 tokens, 2 x 4 x 64 wide, 2 bytes, take 3 hops; in the
  // backward also their gradients. A tenth of a ring pass is always exposed, a third of that in the
  // forward.
  const rankwright::plan::TrainingConfig config = dense({.cp = 4});
  const Seconds ring =
      3 * Links(config, catalog::get_calibration())
              .time(K::cp_ring, plan::Op::send_recv, Bytes{2.0 * 512 * 512}, mesh::GroupKind::cp);
  const LayerTime t = estimate_dense_time(config);
  ASSERT_GT(2 * ring, t.input.attention);
  EXPECT_NEAR(t.forward.cp.exposed / (ring - t.forward.attention + 0.1 / 3 * ring), 1, 1e-12);
  EXPECT_NEAR(t.input.cp.exposed / (2 * ring - t.input.attention + 0.2 / 3 * ring), 1, 1e-12);
  EXPECT_NEAR(t.forward.cp.total() / ring, 1, 1e-12);
  EXPECT_NEAR(t.input.cp.total() / (2 * ring), 1, 1e-12);
}

TEST(LayerTime, RingHasShortBlocksAndCombinesTheirResults) {
  // 4 cp ranks: a kernel sees blocks of 2,048 / 4 = 512 keys, so it is slower by 300 / 512 instead
  // of 300 / 2,048, for a quarter of the FLOPs. Three results of 512 tokens x 1,024 are added in 10
  // bytes per element: 2 read, a sum of 4 read and written; in the backward gradients of queries,
  // keys and values, 1,024 + 256 + 256. An all-gather has the whole sequence on every rank.
  const LayerTime alone = estimate_dense_time(dense());
  const LayerTime ring = estimate_dense_time(dense({.cp = 4}));
  const LayerTime gathered =
      estimate_dense_time(dense({.cp = 4, .cp_comm = plan::CpComm::all_gather}));
  EXPECT_NEAR(gathered.forward.attention / alone.forward.attention, 0.25, 1e-12);
  EXPECT_NEAR(ring.forward.attention / gathered.forward.attention,
              (1 + 300.0 / 512) / (1 + 300.0 / 2048), 1e-12);
  const cluster::Calibration& c = catalog::get_calibration();
  const BytesPerSecond memory =
      c[cluster::Constant::memory_share] / c[cluster::Constant::elementwise] * 3000.0_GBps;
  EXPECT_NEAR((ring.forward.elementwise - gathered.forward.elementwise) /
                  (Bytes{10.0 * 3 * 512 * 1024} / memory),
              1, 1e-9);
  EXPECT_NEAR((ring.input.elementwise - gathered.input.elementwise) /
                  (Bytes{10.0 * 3 * 512 * 1536} / memory),
              1, 1e-9);
}

TEST(LayerTime, GatheredKeysCoverTheWholeSequence) {
  // Keys, and values, of 2,048 tokens x 256 x 2 bytes are gathered; the backward gathers again and
  // reduce-scatters the gradients.
  const rankwright::plan::TrainingConfig config =
      dense({.cp = 4, .cp_comm = plan::CpComm::all_gather});
  const Links links(config, catalog::get_calibration());
  const Bytes all{2.0 * 2048 * 256};
  const Seconds gather =
      2 * links.time(K::cp_all_gather, plan::Op::all_gather, all, mesh::GroupKind::cp);
  const Seconds scatter =
      2 * links.time(K::cp_reduce_scatter, plan::Op::reduce_scatter, all, mesh::GroupKind::cp);
  const LayerTime t = estimate_dense_time(config);
  EXPECT_NEAR(t.forward.cp.exposed / gather, 1, 1e-12);
  EXPECT_NEAR(t.input.cp.exposed / (gather + scatter), 1, 1e-12);
  EXPECT_EQ((t.forward.cp + t.input.cp).overlapped, Seconds{});
}

TEST(LayerTime, ExpertTimeDoesNotDependOnTheSplit) {
  // tp 2: projections 1024 x 768 + 512 x 1024 and a shared expert 3 x 512 x 1024, 2,883,584 for
  // 2,048 tokens. A tp rank sends 1,024 tokens to 2 experts each; of 4 ranks with 2 experts, or 2
  // pairs that halve 4, every one computes 2,048 visits of 3 x 512 x 1024 = 1,572,864, and the
  // busiest imbalance_experts as many.
  const cluster::Calibration c = sample::plain();
  const Flops flops{2 * 2048.0 * (2'883'584 + c[cluster::Constant::imbalance_experts] * 1'572'864)};
  const Seconds expected = flops / (c[cluster::Constant::matmul_hopper] * 989.0_TFLOPS);
  const Bytes copies{2.0 * 2048 * 1024};
  const Seconds pass = c[cluster::Constant::permute] * c[cluster::Constant::permute_fused] *
                       (copies / (c[cluster::Constant::memory_share] * 3000.0_GBps));
  for (const plan::Plan& plan :
       {plan::Plan{.tp = 2, .dp = 4, .ep = 4, .sequence_parallel = true},
        plan::Plan{.tp = 2, .dp = 4, .ep = 2, .etp = 2, .sequence_parallel = true}}) {
    const rankwright::plan::TrainingConfig config = sparse(plan);
    const LayerTime t = time_of(config, sample::sparse_layer(), c);
    EXPECT_NEAR(t.forward.matmul / expected, 1, 1e-12);
    EXPECT_NEAR(t.forward.permute / pass, 6, 1e-9);
    EXPECT_NEAR(t.input.permute / pass, 8, 1e-9);
    // The collectives of two blocks: attention and the shared expert.
    const Links links(config, c);
    const Bytes hidden{2.0 * 2048 * 1024};
    const Seconds block =
        links.time(K::tp_all_gather, plan::Op::all_gather, hidden, mesh::GroupKind::tp) +
        links.time(K::tp_reduce_scatter, plan::Op::reduce_scatter, hidden, mesh::GroupKind::tp);
    EXPECT_NEAR(t.forward.tp.exposed / (2 * block), 1, 1e-12);
  }
}

TEST(LayerTime, TilesOfNarrowExpertsLoseTheirStart) {
  // 2 tokens per expert and token visit: without ep each of 8 experts has 2,048 x 2 / 8 = 512 rows.
  // Outputs: 2 x 512 columns and 1,024 columns in the forward, 1,024 + 512 inner dimensions for the
  // input gradient, 3 x 512 x 1024 weights. Each output costs 100 multiply-adds in 16 bits.
  cluster::Calibration c = sample::plain();
  const rankwright::plan::TrainingConfig config = sparse({});
  const LayerTime bare = time_of(config, sample::sparse_layer(), c);
  c[cluster::Constant::tile_start] = 100;
  const LayerTime lost = time_of(config, sample::sparse_layer(), c);
  const FlopsPerSecond rate = c[cluster::Constant::matmul_hopper] * 989.0_TFLOPS;
  const double rows = c[cluster::Constant::imbalance_experts] * 512;
  EXPECT_NEAR(
      (lost.forward.matmul - bare.forward.matmul) / (Flops{2.0 * 100 * 8 * rows * 2048} / rate), 1,
      1e-9);
  EXPECT_NEAR((lost.input.matmul - bare.input.matmul) / (Flops{2.0 * 100 * 8 * rows * 1536} / rate),
              1, 1e-9);
  EXPECT_NEAR(
      (lost.weight.matmul - bare.weight.matmul) / (Flops{2.0 * 100 * 8 * 3 * 512 * 1024} / rate), 1,
      1e-9);
}

TEST(LayerTime, CapacityReplacesTheImbalance) {
  const cluster::Calibration c = sample::plain();
  rankwright::plan::TrainingConfig config = sparse({});
  config.job.expert_imbalance = 1;
  const Seconds even = time_of(config, sample::sparse_layer(), c).weight.matmul;
  config.job.expert_imbalance = 1.5;
  const Seconds uneven = time_of(config, sample::sparse_layer(), c).weight.matmul;
  config.job.expert_capacity = 1.5;
  EXPECT_EQ(time_of(config, sample::sparse_layer(), c).weight.matmul, uneven);
  // Projections 1024 x 1536 + 1024 x 1024 and the shared expert 3 x 1024 x 1024 for 2,048 tokens,
  // 3 x 512 x 1024 for 4,096 visits: the latter are 6,442,450,944 of 18,253,611,008.
  EXPECT_NEAR(uneven / even, 1 + 0.5 * 6'442'450'944 / 18'253'611'008, 1e-9);
}

TEST(LayerTime, FusedKernelsCastNothing) {
  rankwright::plan::TrainingConfig config = sparse({});
  config.job.matmul = plan::Matmul::fp8;
  const LayerTime grouped = time_of(config, sample::sparse_layer(), catalog::get_calibration());
  config.software.experts = plan::ExpertKernel::fused;
  const LayerTime fused = time_of(config, sample::sparse_layer(), catalog::get_calibration());
  EXPECT_LT(fused.forward.casts, grouped.forward.casts);
  EXPECT_LT(fused.forward.elementwise, grouped.forward.elementwise);
}

TEST(LayerTime, GraphsAndFreeHostsLaunchFaster) {
  const auto launch = [](plan::Launch how, plan::Dispatcher dispatcher) {
    rankwright::plan::TrainingConfig config = sparse({.dp = 4, .ep = 4, .dispatcher = dispatcher});
    config.software.launch = how;
    return time_of(config, sample::sparse_layer(), catalog::get_calibration()).forward.launch;
  };
  const Seconds eager = launch(plan::Launch::eager, plan::Dispatcher::alltoall);
  const Seconds partial = launch(plan::Launch::partial_graphs, plan::Dispatcher::alltoall);
  EXPECT_GT(eager, partial);
  EXPECT_GT(partial, launch(plan::Launch::graphs, plan::Dispatcher::alltoall));
  EXPECT_GT(eager, launch(plan::Launch::eager, plan::Dispatcher::hybridep));
}

TEST(LayerTime, LaunchesGrowWithTheExpertsOfARank) {
  // With launches of 1,000 s everything else vanishes: a pass takes launch_sparse + launch_expert x
  // experts of a rank, 8 or 4, and with a fixed capacity launch_capacity of that.
  cluster::Calibration c = sample::plain();
  c[cluster::Constant::launch_floor] = 1e6;
  const auto pass = [&](plan::Plan plan, double capacity) {
    rankwright::plan::TrainingConfig config = sparse(plan);
    config.job.expert_capacity = capacity;
    return time_of(config, sample::sparse_layer(), c).forward.total();
  };
  const double once = c[cluster::Constant::launch_sparse],
               each = c[cluster::Constant::launch_expert];
  const Seconds all = pass({}, 0);
  EXPECT_NEAR(all.value, (once + 8 * each) * 1000, 1e-3);
  EXPECT_NEAR(pass({.dp = 2, .ep = 2}, 0) / all, (once + 4 * each) / (once + 8 * each), 1e-6);
  EXPECT_NEAR(pass({}, 1) / all, c[cluster::Constant::launch_capacity], 1e-6);
}

TEST(LayerTime, BiasesOfExpertsMoveTheirOutputsInFp32) {
  // 2,048 tokens, 2 visits each, 1,024 wide: 4,194,304 outputs of 28 bytes forward and 40 backward;
  // inside the kernels 4 and 2.
  rankwright::plan::TrainingConfig config = sparse({});
  config.job.expert_imbalance = 1;
  const cluster::Calibration c = sample::plain();
  model::Layer biased = sample::sparse_layer();
  biased.ffn.bias = true;
  const auto expect = [&](double forward, double backward) {
    const LayerTime with = time_of(config, biased, c);
    const LayerTime without = time_of(config, sample::sparse_layer(), c);
    const double bytes = 4'194'304 / (c[cluster::Constant::memory_share] * 3000e9);
    EXPECT_NEAR((with.forward.elementwise - without.forward.elementwise).value, forward * bytes,
                1e-9);
    EXPECT_NEAR((with.input.elementwise - without.input.elementwise).value, backward * bytes, 1e-9);
  };
  expect(28, 40);
  config.software.experts = plan::ExpertKernel::fused;
  expect(4, 2);
}

TEST(LayerTime, RecomputedModulesTakeTheirForward) {
  rankwright::plan::TrainingConfig config = sparse({.dp = 4, .ep = 4});
  config.plan.recompute = plan::Recompute::selective;
  const auto again = [&](plan::RecomputeModules modules) {
    config.plan.modules = modules;
    return time_of(config, sample::sparse_layer(), catalog::get_calibration());
  };
  EXPECT_EQ(again({.core_attn = false}).again.total(), Seconds{});
  EXPECT_EQ(again({.core_attn = false, .mlp = true}).again.total(), Seconds{});  // no dense layer
  const LayerTime moe = again({.core_attn = false, .moe = true});
  EXPECT_EQ(moe.again.ep.exposed, moe.forward.ep.exposed);
  const Seconds act = again({.core_attn = false, .moe_act = true}).again.total();
  EXPECT_GT(act, Seconds{});
  EXPECT_LT(act, moe.again.total());
  EXPECT_EQ(again({.core_attn = false, .moe_act = true, .moe = true}).again.total(),
            moe.again.total());  // moe includes it
}

TEST(LayerTime, RecomputedSharedExperts_ArePartOfTheLayer) {
  rankwright::plan::TrainingConfig config = sparse({.dp = 4, .ep = 4});
  config.plan.recompute = plan::Recompute::selective;
  model::Layer layer = sample::sparse_layer();
  const auto again = [&](plan::RecomputeModules modules) {
    config.plan.modules = modules;
    return time_of(config, layer, catalog::get_calibration()).again;
  };
  const plan::RecomputeModules shared{.core_attn = false, .shared_experts = true};
  layer.ffn.shared_width = 0;
  EXPECT_EQ(again(shared).total(), Seconds{});
  layer.ffn.shared_width = 2048;
  EXPECT_GT(again(shared).matmul, Seconds{});
  EXPECT_EQ(again(shared).ep.exposed, Seconds{});  // their tokens stay
  EXPECT_LT(again(shared).total(), again({.core_attn = false, .moe = true}).total());
}

TEST(LayerTime, ExpertTensorParallelismGathersDispatchedTokens) {
  // No tp: 2,048 tokens to 2 experts each, exchanged over ep, gathered by pairs of etp, whose
  // outputs are reduce-scattered before they are exchanged again.
  const rankwright::plan::TrainingConfig config = sparse({.dp = 4, .ep = 2, .etp = 2});
  const Links links(config, catalog::get_calibration());
  const Bytes copies{2.0 * 2048 * 2 * 1024};
  const Seconds exchange =
      2 * links.time(K::ep_all_to_all, plan::Op::all_to_all, copies, mesh::GroupKind::ep) +
      links.time(K::etp_all_gather, plan::Op::all_gather, 2 * copies, mesh::GroupKind::etp) +
      links.time(K::etp_reduce_scatter, plan::Op::reduce_scatter, 2 * copies, mesh::GroupKind::etp);
  const LayerTime t = time_of(config, sample::sparse_layer(), catalog::get_calibration());
  EXPECT_NEAR(t.forward.ep.exposed / exchange, 1, 1e-12);
  EXPECT_NEAR(t.input.ep.exposed / exchange, 1, 1e-12);
}

TEST(LayerTime, UnfusedAttentionBackwardReadsScoresAgain) {
  // Matmuls once in the forward, twice in the backward; 11 and 17 bytes per score. So twice the
  // forward minus the backward is 2 x 11 - 17 = 5 bytes for each of 2,048 x 2,048 x 16 scores.
  rankwright::plan::TrainingConfig config = dense();
  config.software.attention = plan::AttentionKernel::unfused;
  const cluster::Calibration& c = catalog::get_calibration();
  const Seconds score =
      c[cluster::Constant::unfused_bytes] *
      (Bytes{2048.0 * 2048 * 16} / (c[cluster::Constant::memory_share] * 3000.0_GBps));
  const LayerTime t = estimate_dense_time(config);
  EXPECT_NEAR((2 * t.forward.attention - t.input.attention) / score, 5, 1e-9);
}

TEST(LayerTime, SelectiveRecomputeDependsOnTheSoftware) {
  rankwright::plan::TrainingConfig config = dense({.recompute = plan::Recompute::selective});
  const LayerTime core = estimate_dense_time(config);
  EXPECT_EQ(core.again.attention, core.forward.attention);
  EXPECT_EQ(core.again.total(), core.again.attention + core.again.launch);
  config.software.recomputes_ops = true;  // every second matmul and the operations between
  const LayerTime ops = estimate_dense_time(config);
  EXPECT_EQ(ops.again.total(), 0.5 * ops.forward.matmul + ops.forward.elementwise);
}

// A host that takes 1,000 s to launch a pass hides all kernels. Each recomputed module is a third
// of its launches: the attention core, and the norms before attention and the feed-forward.
TEST(LayerTime, RecomputedModules_AreLaunchedByTheHost) {
  rankwright::plan::TrainingConfig config = dense({.recompute = plan::Recompute::selective});
  cluster::Calibration slow = catalog::get_calibration();
  slow[cluster::Constant::launch_floor] = 1e6;  // ms
  const auto again = [&](plan::RecomputeModules modules, const cluster::Calibration& calibration) {
    config.plan.modules = modules;
    return time_of(config, sample::dense_layer(), calibration).again;
  };
  EXPECT_NEAR(again({}, slow).total().value, 1000.0 / 3, 1);
  EXPECT_NEAR(again({.layernorm = true}, slow).total().value, 3 * 1000.0 / 3, 1);
  // Kernels that take longer than the launches hide them: a tenth of a percent of the third is
  // left.
  cluster::Calibration fast = catalog::get_calibration();
  fast[cluster::Constant::launch_floor] = 1e-3;
  EXPECT_LT(again({}, fast).launch, 1e-3 * (1.0_us / 3));
}

TEST(LayerTime, SelectiveRecomputeOfExpertsRunsTheAttentionCoreAgain) {
  // Megatron-LM's default module is core_attn, in layers with experts too: neither norms nor
  // activation functions run again. With context parallelism keys and values are exchanged again.
  const LayerTime t =
      time_of(sparse({.cp = 2, .dp = 4, .ep = 4, .recompute = plan::Recompute::selective}),
              sample::sparse_layer(), catalog::get_calibration());
  EXPECT_NEAR((t.again.compute() - t.again.launch) / t.forward.attention, 1, 1e-9);
  EXPECT_EQ(t.again.cp.total(), t.forward.cp.total());
  EXPECT_EQ((t.again.tp + t.again.ep).total(), Seconds{});
  EXPECT_GT(t.again.cp.total(), Seconds{});
}

TEST(HeadTime, UsesSixteenBitsAndItsVocabularyShard) {
  // tp 4 of 32,000: 8,000 rows of 1,024 for 2,048 tokens. 8-bit layers do not change the head.
  rankwright::plan::TrainingConfig config = dense({.tp = 4});
  const cluster::Calibration c = sample::plain();
  const Seconds matmul =
      Flops{2.0 * 2048 * 8000 * 1024} / (c[cluster::Constant::matmul_hopper] * 989.0_TFLOPS);
  const Seconds loss =
      c[cluster::Constant::elementwise] * (Bytes{c[cluster::Constant::loss_bytes] * 2048 * 8000} /
                                           (c[cluster::Constant::memory_share] * 3000.0_GBps));
  for (const plan::Matmul format : {plan::Matmul::same, plan::Matmul::fp8}) {
    config.job.matmul = format;
    const Links links(config, c);
    const EmbeddingHeadTime t = estimate_head_time(config, compute_rates(config, c), links,
                                                   TensorComm(config, links, c), c);
    for (const Pass& pass : {t.forward, t.input, t.weight})
      EXPECT_NEAR(pass.matmul / matmul, 1, 1e-12);
    EXPECT_NEAR((t.forward.elementwise + t.input.elementwise) / loss, 1, 1e-12);
  }
}

RC_GTEST_PROP(LayerTime, IsNeverNegative, ()) {
  const rankwright::plan::TrainingConfig config = sample::random_timed_config();
  RC_ASSERT(!config.model.runs.empty());
  for (const model::LayerRun& run : config.model.runs) {
    const LayerTime t = time_of(config, run.layer, catalog::get_calibration());
    for (const Pass& p : {t.forward, t.input, t.weight})
      for (const Seconds part :
           {p.matmul, p.attention, p.elementwise, p.casts, p.permute, p.launch, p.tp.exposed,
            p.tp.overlapped, p.cp.exposed, p.cp.overlapped, p.ep.exposed, p.ep.overlapped})
        RC_ASSERT(part >= Seconds{} && std::isfinite(part.value));
    RC_ASSERT(t.again.total() >= Seconds{});
  }
}

RC_GTEST_PROP(LayerTime, IsNeverLongerInFewerBits, ()) {
  rankwright::plan::TrainingConfig config = sample::random_timed_config();
  config.job.param_dtype = plan::Dtype::bf16;
  const model::Layer& layer = config.model.runs.front().layer;
  const LayerTime half = time_of(config, layer, catalog::get_calibration());
  config.job.matmul = plan::Matmul::fp8;
  const LayerTime eight = time_of(config, layer, catalog::get_calibration());
  RC_ASSERT(eight.forward.matmul <= half.forward.matmul);
  RC_ASSERT(eight.weight.matmul <= half.weight.matmul);
  RC_ASSERT(eight.forward.casts > half.forward.casts);
}

RC_GTEST_PROP(LayerTime, OverlapMovesExposedTimeWithoutChangingTheSum, ()) {
  rankwright::plan::TrainingConfig config = sample::random_timed_config();
  const model::Layer& layer = config.model.runs.front().layer;
  config.plan.overlap.tp = config.plan.overlap.ep = false;
  const LayerTime without = time_of(config, layer, catalog::get_calibration());
  config.plan.overlap.tp = config.plan.overlap.ep = true;
  const LayerTime with = time_of(config, layer, catalog::get_calibration());
  const auto check = [](const CommTime& less, const CommTime& more) {
    RC_ASSERT(less.exposed <= more.exposed);
    RC_ASSERT(std::abs((less.total() - more.total()).value) <= 1e-12 * more.total().value);
  };
  check(with.forward.tp, without.forward.tp);
  check(with.input.tp, without.input.tp);
  check(with.forward.ep, without.forward.ep);
  check(with.input.ep, without.input.ep);
}

TEST(LayerTime, OverlapHidesNoMoreExchangeThanThereIsComputation) {
  // A network a thousand times slower: what is hidden is the computation of forward and backward.
  rankwright::plan::TrainingConfig config = sparse({.dp = 16, .ep = 16});
  config.plan.overlap.ep = true;
  for (cluster::Level& level : config.cluster.levels) level.bandwidth = level.bandwidth / 1000;
  const LayerTime t = time_of(config, sample::sparse_layer(), catalog::get_calibration());
  Seconds computed;
  for (const Pass& pass : {t.forward, t.input, t.weight})
    computed += pass.matmul + pass.attention + pass.elementwise + pass.casts + pass.permute;
  EXPECT_NEAR((t.forward.ep.overlapped + t.input.ep.overlapped) / computed, 1, 1e-9);
  EXPECT_GT(t.forward.ep.exposed, t.forward.ep.overlapped);
}

TEST(LayerTime, ExchangesOfARecomputedForward_AreExposed) {
  // One forward is scheduled beside one backward; nothing is left to run beside the second forward.
  rankwright::plan::TrainingConfig config = sparse({.dp = 16, .ep = 16});
  config.plan.overlap.ep = true;
  const auto again = [&](plan::Recompute recompute, plan::RecomputeModules modules) {
    config.plan.recompute = recompute;
    config.plan.modules = modules;
    return time_of(config, sample::sparse_layer(), catalog::get_calibration());
  };
  for (const LayerTime& t :
       {again(plan::Recompute::full, {}),
        again(plan::Recompute::selective, {.core_attn = false, .moe = true})}) {
    EXPECT_GT(t.forward.ep.overlapped, Seconds{});
    EXPECT_EQ(t.again.ep.exposed, t.forward.ep.total());
    EXPECT_EQ(t.again.ep.overlapped, Seconds{});
  }
}

TEST(LayerTime, DelayedWeightGradientsHideMoreOfTheDispatchBackward) {
  // The experts compute much longer than attention, and an exchange takes a fifth longer than their
  // forward: undelayed, the dispatch's backward outlasts it.
  model::Layer layer = sample::sparse_layer();
  layer.ffn.expert_width = 65536;
  rankwright::plan::TrainingConfig config = sparse({.dp = 16, .ep = 16});
  config.plan.overlap.ep = true;
  const cluster::Calibration& c = catalog::get_calibration();
  const auto find_hidden = [&](bool delayed) {
    config.plan.overlap.wgrad = delayed;
    return time_of(config, layer, c);
  };
  const auto slow_down = [&](double times) {
    for (cluster::Level& level : config.cluster.levels) level.bandwidth = level.bandwidth / times;
  };
  const auto exchange = [&](const LayerTime& time) {  // its overlapped part
    return 0.5 * (1 - c[cluster::Constant::ep_shown]) *
           (time.forward.ep.exposed + time.forward.ep.overlapped);
  };
  const LayerTime fast = find_hidden(false);
  const Seconds forward = fast.forward.matmul + fast.forward.elementwise + fast.forward.permute;
  slow_down(2);  // a part of the exchange does not depend on bandwidth
  const Seconds varies = exchange(find_hidden(false)) - exchange(fast);
  slow_down(0.5 * (1 + (1.2 * forward - exchange(fast)) / varies));
  ASSERT_GT(exchange(find_hidden(false)), forward);
  ASSERT_LT(exchange(find_hidden(false)), 1.5 * forward);  // the backward takes longer
  const LayerTime plain = find_hidden(false), delayed = find_hidden(true);
  EXPECT_GT(delayed.input.ep.overlapped, 1.1 * plain.input.ep.overlapped);
  EXPECT_EQ(delayed.weight.matmul, plain.weight.matmul);
}

TEST(LayerTime, QueryKeyNormsReadAndWriteTheirInputs) {
  // 2,048 tokens, queries 1,024 and keys 256: 4 bytes per element forward, 6 backward.
  model::Layer layer = sample::dense_layer();
  const cluster::Calibration c = sample::plain();
  const LayerTime without = time_of(dense(), layer, c);
  layer.attention.qk_norm = true;
  const LayerTime with = time_of(dense(), layer, c);
  const Seconds once = Bytes{2048.0 * (1024 + 256)} / compute_rates(dense(), c).memory;
  EXPECT_NEAR((with.forward.elementwise - without.forward.elementwise) / once, 4, 1e-6);
  EXPECT_NEAR((with.input.elementwise - without.input.elementwise) / once, 6, 1e-6);
}

TEST(LayerTime, Window_ShortensFusedAttentionOnly) {
  // 2,048 tokens and a window of 512: 2 * 512 - 512^2 / 2048 = 896 of 2,048. Blocks of 512 fill the
  // kernel less: (1 + 300 / 512) against (1 + 300 / 2048).
  rankwright::plan::TrainingConfig config = dense();
  const cluster::Calibration& c = catalog::get_calibration();
  model::Layer windowed = sample::dense_layer();
  windowed.attention.window = 512;
  const LayerTime full = estimate_dense_time(config), less = time_of(config, windowed, c);
  EXPECT_NEAR(less.forward.attention / full.forward.attention,
              896.0 / 2048 * (1 + 300.0 / 512) / (1 + 300.0 / 2048), 1e-12);
  EXPECT_EQ(less.forward.matmul, full.forward.matmul);
  config.software.attention =
      plan::AttentionKernel::unfused;  // computes all scores, and masks them
  EXPECT_EQ(time_of(config, windowed, c).forward.attention,
            estimate_dense_time(config).forward.attention);
}

TEST(LayerTime, Recurrence_GrowsWithTokensOnly) {
  // Mamba-2's scan: 7 * 16 * 64 * 32 FLOPs for each of 2,048 tokens.
  const cluster::Calibration& c = catalog::get_calibration();
  rankwright::plan::TrainingConfig config = dense();
  model::Layer layer = sample::dense_layer();
  layer.attention = {.kind = model::Attention::Kind::mamba,
                     .heads = 16,
                     .kv_heads = 4,
                     .head_dim = 64,
                     .state = 32,
                     .conv = 4};
  const Seconds once = time_of(config, layer, c).forward.attention;
  EXPECT_NEAR(once / (Flops{2048.0 * 7 * 16 * 64 * 32} / compute_rates(config, c).attention), 1,
              1e-12);
  config.job.sequence *= 4;
  EXPECT_NEAR(time_of(config, layer, c).forward.attention / once, 4, 1e-12);
}

TEST(LayerTime, SingleBlock_HasOneBlocksTraffic) {
  const cluster::Calibration& c = catalog::get_calibration();
  const rankwright::plan::TrainingConfig config = dense({.tp = 2, .sequence_parallel = true});
  model::Layer mlp = sample::dense_layer(), attention = sample::dense_layer();
  mlp.attention = {.kind = model::Attention::Kind::none};
  attention.ffn = {};
  const Seconds both = estimate_dense_time(config, c).forward.tp.total();
  EXPECT_NEAR(time_of(config, mlp, c).forward.tp.total() / both, 0.5, 1e-12);
  EXPECT_NEAR(time_of(config, attention, c).forward.tp.total() / both, 0.5, 1e-12);
  EXPECT_EQ(time_of(config, mlp, c).forward.attention, Seconds{});
}

}  // namespace layer_time_test
}  // namespace rankwright::cost
