#include "rankwright/cost/step.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/data_time.h"
#include "rankwright/cost/layer_time.h"
#include "rankwright/plan/shares.h"
#include "tests/support/timed_configs.h"

namespace rankwright::cost {
namespace step_test {

rankwright::plan::TrainingConfig dense(plan::Plan plan = {}, i64 microbatches = 4) {
  return sample::timed(sample::dense_config(plan, microbatches));
}

StepTime step_of(const rankwright::plan::TrainingConfig& config) {
  return estimate_step_time(config, catalog::get_calibration());
}

TEST(Items, HaveOneRowEachInOrder) {
  for (std::size_t k = 0; k < kItems; ++k) {
    EXPECT_EQ(items()[k].item, Item(k));
    EXPECT_EQ(&row(Item(k)), &items()[k]);
  }
}

TEST(StepTime, OneDeviceDoesNotWait) {
  const StepTime t = step_of(dense());
  for (const ItemRow& of : items()) EXPECT_TRUE(of.computes || t[of.item] == Seconds{}) << of.name;
  EXPECT_EQ(t.total(), t.compute());
  EXPECT_GT(t[Item::matmul], Seconds{});
}

TEST(StepTime, LayersAddUp) {
  // 8 equal layers, 4 microbatches, forward and both gradients.
  const rankwright::plan::TrainingConfig config = dense();
  const cluster::Calibration& c = catalog::get_calibration();
  const Links links(config, c);
  const LayerTime layer =
      estimate_layer_time(config, sample::dense_layer(), compute_rates(config, c), links,
                          TensorComm(config, links, c), c);
  const Seconds once = layer.forward.matmul + layer.input.matmul + layer.weight.matmul;
  EXPECT_NEAR(step_of(config)[Item::matmul] / (4 * 8 * once), 1, 1e-12);
}

TEST(StepTime, OptimizerTakesTheBytesItMoves) {
  // 26 bytes per parameter of the rank, and 40 per parameter of its shard, a quarter.
  const rankwright::plan::TrainingConfig config = dense({.dp = 4, .zero = 1});
  const cluster::Calibration& c = catalog::get_calibration();
  plan::Share all = 8 * count_layer_share(config.model, sample::dense_layer(), config.plan);
  all += plan::count_embedding_share(config.model, 1);
  all += plan::count_head_share(config.model, 1, true);
  const Seconds expected = Bytes{double(all.total()) * (26 + 40.0 / 4)} /
                           (c[cluster::Constant::memory_share] * 3000.0_GBps);
  EXPECT_NEAR(step_of(config)[Item::optimizer] / expected, 1, 1e-12);
}

TEST(StepTime, GradientsExposeWhatBackwardDoesNotOverlap) {
  rankwright::plan::TrainingConfig config = dense({.dp = 4});
  const StepTime hidden = step_of(config);
  config.plan.overlap.grad_reduce = false;
  const StepTime shown = step_of(config);
  EXPECT_EQ(shown.comm(Item::dp).overlapped, Seconds{});
  EXPECT_NEAR(hidden.comm(Item::dp).total() / shown[Item::dp], 1, 1e-12);
  // At least the first and the last bucket are exposed.
  EXPECT_GE(hidden[Item::dp].value,
            catalog::get_calibration()[cluster::Constant::dp_shown] * shown[Item::dp].value);
}

TEST(StepTime, BubbleDependsOnTheSchedule) {
  // 8 layers on 4 pp ranks, 2 each, the last also with the head: 1F1B with 4 microbatches idles 3
  // slots of 4 + 3, interleaved with 2 chunks 3 of 8 + 3. The head makes stages uneven, so only the
  // order is compared.
  const StepTime one = step_of(dense({.pp = 4}, 8));
  const StepTime two = step_of(
      dense({.pp = 4, .virtual_stages = 2, .schedule = pipeline::Schedule::interleaved}, 8));
  EXPECT_GT(one[Item::bubble], two[Item::bubble]);
  EXPECT_EQ(one.slowest, 3);
  EXPECT_GT(one[Item::imbalance], Seconds{});
}

TEST(StepTime, JitterGrowsWithNodes) {
  // 64 ranks are 8 nodes of 8: three doublings.
  EXPECT_EQ(step_of(dense({.dp = 8}))[Item::jitter], Seconds{});
  const StepTime t = step_of(dense({.dp = 64}));
  const double share = 3 * catalog::get_calibration()[cluster::Constant::jitter] / 100;
  EXPECT_NEAR(t[Item::jitter] / (t.total() - t[Item::jitter]), share, 1e-12);
}

TEST(StepTime, TunedSoftwareIsFaster) {
  rankwright::plan::TrainingConfig config = dense();
  const StepTime plain = step_of(config);
  config.software.tuned = true;
  const StepTime tuned = step_of(config);
  EXPECT_EQ(tuned[Item::untuned], Seconds{});
  EXPECT_NEAR((plain.total() - tuned.total()) / plain[Item::untuned], 1, 1e-9);
}

TEST(StepTime, HasTwoSendsPerBoundaryAndMicrobatch) {
  // 8 stages have 7 boundaries, all between pp ranks. 8 microbatches cross each with an activation
  // and a gradient: 112 sends, 28 for the mean of 4 ranks.
  const rankwright::plan::TrainingConfig config =
      dense({.pp = 4, .virtual_stages = 2, .schedule = pipeline::Schedule::interleaved}, 8);
  const Seconds send = Links(config, catalog::get_calibration())
                           .time(plan::TrafficKind::pp_forward, plan::Op::send_recv,
                                 Bytes{2.0 * 2048 * 1024}, mesh::GroupKind::pp);
  EXPECT_NEAR(step_of(config)[Item::sends] / send, 28, 1e-9);
}

TEST(StepTime, OnlyTheOverlapOfExpertsHidesTheirTraffic) {
  // 8 experts on 8 ranks: dispatch and combine, forward and backward, in 8 layers and 4
  // microbatches are 128 all-to-alls. Overlapped sends do not change them; `overlap.ep` exposes
  // `ep_shown`.
  model::Layer layer = sample::sparse_layer();
  layer.ffn.expert_width = 8192;  // both halves of the layer compute longer than they exchange
  layer.attention.heads *= 64;
  rankwright::plan::TrainingConfig config =
      sample::timed(sample::config_of(sample::model_of({{8, layer}}), {.dp = 8, .ep = 8}));
  const cluster::Calibration& c = catalog::get_calibration();
  const Seconds all =
      128 * Links(config, c).time(plan::TrafficKind::ep_all_to_all, plan::Op::all_to_all,
                                  Bytes{2.0 * 2048 * 2 * 1024}, mesh::GroupKind::ep);
  config.plan.overlap.pp = true;
  EXPECT_NEAR(step_of(config)[Item::ep] / all, 1, 1e-12);
  EXPECT_EQ(step_of(config).comm(Item::ep).overlapped, Seconds{});
  config.plan.overlap.pp = false;
  config.plan.overlap.ep = true;
  const double shown = c[cluster::Constant::ep_shown];
  ASSERT_LT(shown, 1);
  EXPECT_NEAR(step_of(config)[Item::ep] / (shown * all), 1, 1e-12);
  EXPECT_NEAR(step_of(config).comm(Item::ep).total() / all, 1, 1e-12);
}

TEST(StepTime, VocabularyHasOneHeadPerMtpModule) {
  // 4 microbatches: the embedding and the head, and those of one MTP module with its projection.
  rankwright::plan::TrainingConfig config = dense();
  config.model.mtp_layers = 1;
  const cluster::Calibration& c = catalog::get_calibration();
  const Links links(config, c);
  const TensorComm tensor(config, links, c);
  const Rates rates = compute_rates(config, c);
  const Seconds head = estimate_head_time(config, rates, links, tensor, c).sum().compute();
  const Seconds first = estimate_embedding_time(config, rates, links, tensor, c).sum().compute();
  const Seconds joined = estimate_projection_time(config, rates, links, tensor, c).sum().compute();
  EXPECT_NEAR(step_of(config)[Item::vocabulary] / (4 * (2 * head + 2 * first + joined)), 1, 1e-12);
}

TEST(StepTime, FsdpOptimizerTouchesOnlyItsShard) {
  // 26 and 40 bytes, both for a quarter of the parameters, from ZeRO-2 on; without FSDP only with
  // ZeRO-3.
  rankwright::plan::TrainingConfig config = dense({.dp = 4, .zero = 2});
  const double all = double(count_rank_share(config, 0).total());
  const BytesPerSecond memory =
      catalog::get_calibration()[cluster::Constant::memory_share] * 3000.0_GBps;
  EXPECT_NEAR(step_of(config)[Item::optimizer] / (Bytes{all * (26 + 10)} / memory), 1, 1e-12);
  config.software.fsdp = true;
  EXPECT_NEAR(step_of(config)[Item::optimizer] / (Bytes{all * (6.5 + 10)} / memory), 1, 1e-12);
}

TEST(StepTime, OptimizerShardsExpertsOverTheirDataRanks) {
  // 8 data ranks, experts over 4: dense parameters are sharded by 8, experts by 2.
  const rankwright::plan::TrainingConfig config = sample::timed(sample::config_of(
      sample::model_of({{8, sample::sparse_layer()}}), {.dp = 8, .ep = 4, .zero = 1}));
  const plan::Share share = count_rank_share(config, 0);
  const double shard = double(share.dense) / 8 + double(share.expert) / 2;
  const Seconds expected =
      Bytes{26.0 * double(share.total()) + 40 * shard} /
      (catalog::get_calibration()[cluster::Constant::memory_share] * 3000.0_GBps);
  EXPECT_NEAR(step_of(config)[Item::optimizer] / expected, 1, 1e-12);
}

TEST(StepTime, RecomputesTheFirstLayersOfEachStage) {
  // 2 pp ranks with 2 chunks of 2 layers: the first layer of each chunk is recomputed. 4 in total,
  // 4 microbatches, the mean of 2 ranks.
  const rankwright::plan::TrainingConfig config =
      dense({.pp = 2,
             .virtual_stages = 2,
             .schedule = pipeline::Schedule::interleaved,
             .recompute = plan::Recompute::full,
             .recompute_layers = 1});
  const cluster::Calibration& c = catalog::get_calibration();
  const Links links(config, c);
  const Seconds again = estimate_layer_time(config, sample::dense_layer(), compute_rates(config, c),
                                            links, TensorComm(config, links, c), c)
                            .again.total();
  EXPECT_NEAR(step_of(config)[Item::recompute] / again, 4.0 / 2 * 4, 1e-9);
}

RC_GTEST_PROP(StepTime, OptimizerUsesTheHeaviestRank, ()) {
  rankwright::plan::TrainingConfig config = sample::random_timed_config();
  config.plan.zero = 0;
  i64 max = 0;
  for (i64 r = 0; r < config.plan.pp; ++r) max = std::max(max, count_rank_share(config, r).total());
  const cluster::Calibration& c = catalog::get_calibration();
  const Seconds expected =
      Bytes{double(max) * (c[cluster::Constant::step_bytes] + c[cluster::Constant::adam_bytes])} /
      (c[cluster::Constant::memory_share] * 3000.0_GBps);
  RC_ASSERT(std::abs(step_of(config)[Item::optimizer] / expected - 1) < 1e-12);
}

RC_GTEST_PROP(CellTimes, ComputeIsAtMostTheTotal, ()) {
  const rankwright::plan::TrainingConfig config = sample::random_timed_config();
  const CellTimes times = estimate_cell_times(config, catalog::get_calibration());
  RC_ASSERT(times.compute.size() == times.stages.size());
  for (std::size_t s = 0; s < times.stages.size(); ++s) {
    const pipeline::StageTimes &all = times.stages[s], &part = times.compute[s];
    RC_ASSERT(part.forward <= all.forward * (1 + 1e-9));
    RC_ASSERT(part.input <= all.input * (1 + 1e-9));
    RC_ASSERT(part.weight <= all.weight * (1 + 1e-9));
  }
}

TEST(CellTimes, Zero3AddsExposedCommunication) {
  rankwright::plan::TrainingConfig config = dense({.dp = 4, .zero = 1});
  config.software.tuned = true;
  const cluster::Calibration& c = catalog::get_calibration();
  const pipeline::StageTimes bare = estimate_cell_times(config, c).stages.at(0);
  config.plan.zero = 3;
  const pipeline::StageTimes cell = estimate_cell_times(config, c).stages.at(0);
  const RankWork on{.forward = bare.forward,
                    .backward = bare.input + bare.weight,
                    .share = count_rank_share(config, 0),
                    .layers = 8};
  const ZeroWaits waits = estimate_zero3_waits(
      config, on, make_data_shape(config, config.stages(), 0), Links(config, c), c);
  EXPECT_NEAR((cell.forward - bare.forward) / waits.forward, 1, 1e-9);
  EXPECT_NEAR((cell.input + cell.weight - on.backward) / waits.backward, 1, 1e-9);
}

RC_GTEST_PROP(StepTime, HasNoNegativeItem, ()) {
  const StepTime t = step_of(sample::random_timed_config());
  for (const ItemRow& of : items()) {
    RC_ASSERT(std::isfinite(t[of.item].value));
    RC_ASSERT(t[of.item] >= Seconds{-1e-12});
  }
  for (const Seconds& overlapped : t.overlapped) RC_ASSERT(overlapped >= Seconds{-1e-12});
  RC_ASSERT(t.compute() <= t.total() * (1 + 1e-12));
}

RC_GTEST_PROP(StepTime, NeverIncreasesWithFasterLinks, ()) {
  rankwright::plan::TrainingConfig config = sample::random_timed_config();
  const Seconds before = step_of(config).total();
  for (cluster::Level& level : config.cluster.levels) level.bandwidth = 2 * level.bandwidth;
  RC_ASSERT(step_of(config).total() <= before * (1 + 1e-9));
}

RC_GTEST_PROP(StepTime, GrowsWithMoreRecomputation, ()) {
  rankwright::plan::TrainingConfig config = sample::random_timed_config();
  config.plan.recompute_layers = 0;
  std::vector<Seconds> times;
  for (const plan::Recompute r :
       {plan::Recompute::none, plan::Recompute::selective, plan::Recompute::full}) {
    config.plan.recompute = r;
    times.push_back(step_of(config)[Item::recompute]);
  }
  RC_ASSERT(times[0] == Seconds{});
  RC_ASSERT(times[0] <= times[1] && times[1] <= times[2]);
}

RC_GTEST_PROP(StepTime, DoublesWithTheMicrobatchesWithoutAPipeline, ()) {
  rankwright::plan::TrainingConfig config = sample::random_timed_config();
  RC_PRE(config.plan.pp == 1);
  const StepTime one = step_of(config);
  config.job.global_batch *= 2;
  const StepTime two = step_of(config);
  const auto inside = [](const StepTime& t) {
    return t.total() - t[Item::dp] - t[Item::optimizer] - t[Item::jitter];
  };
  RC_ASSERT(std::abs(inside(two) / inside(one) - 2) < 1e-9);
}

RC_GTEST_PROP(CellTimes, HasOneEntryPerStage, ()) {
  const rankwright::plan::TrainingConfig config = sample::random_timed_config();
  const CellTimes times = estimate_cell_times(config, catalog::get_calibration());
  RC_ASSERT(i64(times.stages.size()) == config.plan.pp * config.plan.virtual_stages);
  RC_ASSERT(times.hop >= Seconds{} && (config.plan.pp > 1 || times.hop == Seconds{}));
}

TEST(StepTime, Zero2ReducesEveryMicrobatch) {
  // Without overlap, ZeRO-1 reduces once and ZeRO-2 four times: three reduce-scatters more.
  plan::Plan plan{.dp = 4, .zero = 1};
  plan.overlap.grad_reduce = plan.overlap.param_gather = false;
  rankwright::plan::TrainingConfig once = sample::timed(sample::dense_config(plan, 4));
  ASSERT_EQ(once.microbatches(), 4);
  once.plan.bucket_size = count_rank_share(once, 0).dense;  // one call for all gradients
  rankwright::plan::TrainingConfig each = once;
  each.plan.zero = 2;
  const cluster::Calibration& c = catalog::get_calibration();
  const i64 all = count_rank_share(once, 0).dense;
  const Seconds scatter =
      Links(once, c).time(plan::TrafficKind::dp_reduce_scatter, plan::Op::reduce_scatter,
                          bytes(all, once.job.grad_bytes()), mesh::GroupKind::dp_cp);
  EXPECT_NEAR(
      (estimate_step_time(each, c)[Item::dp] - estimate_step_time(once, c)[Item::dp]) / scatter, 3,
      1e-9);
}

}  // namespace step_test
}  // namespace rankwright::cost
