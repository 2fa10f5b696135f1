#include "rankwright/cost/data_time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "tests/support/timed_configs.h"
#include "tests/support/typed_configs.h"

namespace rankwright::cost {
namespace data_time_test {

/// Returns a rank with a forward of `each` and a backward of twice that per microbatch.
RankWork work(const rankwright::plan::TrainingConfig& config, Seconds each) {
  return {.forward = each, .backward = 2 * each, .share = count_rank_share(config, 0), .layers = 8};
}

DataTime of(const rankwright::plan::TrainingConfig& config, Seconds each) {
  return estimate_data_time(config, work(config, each), Links(config, catalog::get_calibration()),
                            catalog::get_calibration());
}

TEST(DataTime, OneRankTakesNoTime) {
  const DataTime time = of(sample::timed(sample::dense_config({})), 1.0_s);
  EXPECT_EQ(time.shown, Seconds{});
  EXPECT_EQ(time.hidden, Seconds{});
}

TEST(DataTime, ExposesAtLeastAFixedFraction) {
  // ZeRO-0: one all-reduce of all gradients. An hour of backward overlaps all but `dp_shown` of it.
  const rankwright::plan::TrainingConfig config = sample::timed(sample::dense_config({.dp = 4}));
  const Links links(config, catalog::get_calibration());
  const Seconds all = links.time(plan::Op::all_reduce,
                                 bytes(count_rank_share(config, 0).dense, config.job.grad_bytes()),
                                 mesh::GroupKind::shard);
  const DataTime time = of(config, 3600.0_s);
  EXPECT_NEAR(time.shown / (catalog::get_calibration()[cluster::Constant::dp_shown] * all), 1,
              1e-12);
  EXPECT_NEAR((time.shown + time.hidden) / all, 1, 1e-12);
}

TEST(DataTime, TiedEmbeddingAddsAReductionBetweenFirstAndLastStage) {
  rankwright::plan::TrainingConfig config = sample::timed(sample::dense_config({.pp = 2}));
  EXPECT_EQ(of(config, 1.0_s).shown, Seconds{});
  config.model.tied = true;
  const Links links(config, catalog::get_calibration());
  const Bytes size =
      bytes(plan::count_embedding_share(config.model, 1).dense, config.job.grad_bytes());
  EXPECT_EQ(of(config, 1.0_s).shown,
            links.time(plan::Op::all_reduce, size, mesh::GroupKind::edges));
  // In a V order, head and embedding are on the same pp rank.
  config.plan.schedule = pipeline::Schedule::zb_v;
  config.plan.virtual_stages = 2;
  EXPECT_EQ(of(config, 1.0_s).shown, Seconds{});
}

/// Turns off the overlap of data-parallel traffic.
plan::Plan bare(plan::Plan plan) {
  plan.overlap.grad_reduce = plan.overlap.param_gather = false;
  return plan;
}

rankwright::plan::TrainingConfig experts(plan::Plan plan) {
  return sample::timed(sample::config_of(sample::model_of({{8, sample::sparse_layer()}}), plan));
}

/// Returns the time of one call over the ranks that shard dense parameters.
Seconds call(const rankwright::plan::TrainingConfig& config, plan::Op op, i64 each) {
  return Links(config, catalog::get_calibration())
      .time(op, bytes(count_rank_share(config, 0).dense, each), mesh::GroupKind::shard);
}

TEST(DataTime, HybridShardingReducesEachShardOverItsReplicas) {
  // 8 ranks in shard groups of 2: reduce-scatter in pairs, all-reduce of half over 4 replicas, then
  // all-gather.
  const rankwright::plan::TrainingConfig config =
      sample::timed(sample::dense_config(bare({.dp = 8, .zero = 1, .shard_size = 2})));
  const i64 each = config.job.grad_bytes();
  const Seconds copies =
      Links(config, catalog::get_calibration())
          .time(plan::Op::all_reduce, bytes(count_rank_share(config, 0).dense, each) / 2,
                mesh::GroupKind::replicate);
  const Seconds expected =
      call(config, plan::Op::reduce_scatter, each) + copies + call(config, plan::Op::all_gather, 2);
  EXPECT_GT(copies, Seconds{});
  EXPECT_NEAR(of(config, 1.0_s).shown / expected, 1, 1e-12);
}

TEST(DataTime, Zero1AllReducesIfTheSoftwareDoes) {
  rankwright::plan::TrainingConfig config =
      sample::timed(sample::dense_config(bare({.dp = 4, .zero = 1})));
  const i64 each = config.job.grad_bytes();
  const Seconds gather = call(config, plan::Op::all_gather, 2);
  EXPECT_EQ(of(config, 1.0_s).shown, call(config, plan::Op::reduce_scatter, each) + gather);
  config.software.all_reduces = true;
  EXPECT_EQ(of(config, 1.0_s).shown, call(config, plan::Op::all_reduce, each) + gather);
}

TEST(DataTime, ExpertsReduceOverTheirDataParallelRanks) {
  // 8 ranks with 4 of the 8 experts each: 4 ranks hold the same experts.
  const rankwright::plan::TrainingConfig config = experts(bare({.dp = 8, .ep = 2}));
  const i64 each = config.job.grad_bytes();
  const Links links(config, catalog::get_calibration());
  ASSERT_EQ(links.span(mesh::GroupKind::edp).size, 4);
  const Seconds routed = links.time(
      plan::Op::all_reduce, bytes(count_rank_share(config, 0).expert, each), mesh::GroupKind::edp);
  EXPECT_EQ(of(config, 1.0_s).shown, call(config, plan::Op::all_reduce, each) + routed);
}

TEST(DataTime, OverlapsOtherChunksToo) {
  // 2 chunks on 4 pp ranks, 2 microbatches: the window is 1 + (2 - 1) (2 - 1) / 2 = 1.5 backwards.
  // A backward of half the traffic's time, times the window of 1.5, overlaps 1.5 / 2 of it.
  rankwright::plan::TrainingConfig config = sample::timed(sample::dense_config(
      {.dp = 2, .pp = 4, .virtual_stages = 2, .schedule = pipeline::Schedule::looped_bfs}, 2));
  const Seconds all = call(config, plan::Op::all_reduce, config.job.grad_bytes());
  const Seconds backward = 0.5 / catalog::get_calibration()[cluster::Constant::dp_window] * all;
  EXPECT_NEAR(of(config, 0.5 * backward).shown / all, 0.25, 1e-12);
}

TEST(DataTime, WeightGathersOverlapForward) {
  // The forward overlaps a quarter of the gather; the backward is twice as long and overlaps twice
  // as much of the reduce-scatter.
  const rankwright::plan::TrainingConfig config =
      sample::timed(sample::dense_config({.dp = 4, .zero = 1}));
  const Seconds scatter = call(config, plan::Op::reduce_scatter, config.job.grad_bytes());
  const Seconds gather = call(config, plan::Op::all_gather, 2);
  const Seconds forward = 0.25 / catalog::get_calibration()[cluster::Constant::dp_window] * gather;
  const Seconds expected = (scatter - 0.5 * gather) + 0.75 * gather;
  EXPECT_NEAR(of(config, forward).shown / expected, 1, 1e-12);
}

TEST(DataTime, FsdpReducesEveryMicrobatchUnlessInAPipeline) {
  // 4 microbatches with ZeRO-2: 4 reduce-scatters and a gather; in a pipeline one for all
  // microbatches.
  for (const i64 pp : {1, 2}) {
    rankwright::plan::TrainingConfig config =
        sample::timed(sample::dense_config(bare({.dp = 4, .pp = pp, .zero = 2})));
    config.software.fsdp = true;
    const Seconds expected =
        (pp == 1 ? 4 : 1) * call(config, plan::Op::reduce_scatter, config.job.grad_bytes()) +
        call(config, plan::Op::all_gather, config.job.activation_bytes());
    EXPECT_NEAR(of(config, 1.0_s).shown / expected, 1, 1e-12) << "pp=" << pp;
  }
}

TEST(DataTime, Zero3GathersTwiceAndReducesOncePerMicrobatch) {
  // 8 units with a gather g and a reduce-scatter s, 4 microbatches. Without computation all of
  // 8 (2 g + s) is exposed, plus g + s at the ends; next to an hour of computation only the
  // slowdown that it causes, and the ends.
  rankwright::plan::TrainingConfig config =
      sample::timed(sample::dense_config({.dp = 4, .zero = 3}));
  const Links links(config, catalog::get_calibration());
  const i64 unit = count_rank_share(config, 0).dense / 8;
  const auto one = [&](plan::Op op, i64 each) {
    return links.time(op, bytes(unit, each), mesh::GroupKind::shard);
  };
  const Seconds g = one(plan::Op::all_gather, 2),
                s = one(plan::Op::reduce_scatter, config.job.grad_bytes());
  const Seconds all = 4 * 8 * (2 * g + s);
  const DataTime none = of(config, Seconds{}), hour = of(config, 3600.0_s);
  EXPECT_NEAR(none.shown / (all + g + s), 1, 1e-12);
  const Seconds apply_overheads =
      catalog::get_calibration()[cluster::Constant::zero3_contention] * all;
  EXPECT_NEAR(hour.shown / (apply_overheads + g + s), 1, 1e-12);
  EXPECT_NEAR((hour.shown + hour.hidden) / all, 1, 1e-12);
  config.software.gathers_fp8 = true;
  config.job.matmul = plan::Matmul::fp8;
  const Seconds less = g - one(plan::Op::all_gather, 1);
  EXPECT_NEAR((none.shown - of(config, Seconds{}).shown) / ((4 * 8 * 2 + 1) * less), 1, 1e-9);
}

TEST(DataTime, MirroredStagesReduceAllGradients) {
  // DualPipe on 2 pp ranks: each holds both stages and thus all parameters, including experts.
  const rankwright::plan::TrainingConfig config =
      experts({.pp = 2, .schedule = pipeline::Schedule::dualpipe});
  ASSERT_GT(count_rank_share(config, 0).expert, 0);
  const Bytes size = bytes(count_rank_share(config, 0).total(), config.job.grad_bytes());
  EXPECT_EQ(of(config, 1.0_s).shown,
            Links(config, catalog::get_calibration())
                .time(plan::Op::all_reduce, size, mesh::GroupKind::mirror));
}

TEST(DataTime, SingleRailSoftwareUsesOneNic) {
  rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 2\nparallelism: {dp_size: 16, zero_stage: 0}\n");
  config.plan.overlap.grad_reduce = false;
  config.software.single_rail = true;
  const Bytes size = bytes(count_rank_share(config, 0).dense, config.job.grad_bytes());
  const Links links(config, catalog::get_calibration());
  EXPECT_EQ(of(config, 1.0_s).shown,
            links.single_rail(plan::Op::all_reduce, size, mesh::GroupKind::shard));
}

RC_GTEST_PROP(DataTime, NeverDecreasesWithLessComputation, ()) {
  const rankwright::plan::TrainingConfig config = sample::random_timed_config();
  const Seconds each{double(*rc::gen::inRange(1, 1000)) * 1e-3};
  const DataTime more = of(config, 2 * each), less = of(config, each);
  RC_ASSERT(less.hidden.value >= 0);
  // With ZeRO-2 and ZeRO-3, overlapped traffic slows the computation, so more computation may
  // expose more.
  RC_ASSERT(config.plan.zero >= 2 || less.shown.value >= more.shown.value * (1 - 1e-12));
}

}  // namespace data_time_test
}  // namespace rankwright::cost
