#include "rankwright/cost/data_time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "tests/support/timed_configs.h"
#include "tests/support/typed_configs.h"

namespace rankwright::cost {
namespace data_time_test {

/// A rank with this much work beside its traffic.
RankWork work(const rankwright::plan::TrainingConfig& config, Seconds each) {
  return {.forward = each, .backward = 2 * each, .share = rank_share(config, 0), .layers = 8};
}

DataTime of(const rankwright::plan::TrainingConfig& config, Seconds each) {
  return data_time(config, work(config, each), Links(config, catalog::calibration()),
                   catalog::calibration());
}

TEST(DataTime, OfOneRankIsNone) {
  const DataTime time = of(sample::timed(sample::dense_setup({})), 1.0_s);
  EXPECT_EQ(time.shown, Seconds{});
  EXPECT_EQ(time.hidden, Seconds{});
}

TEST(DataTime, ShowsAPartHoweverLongTheComputation) {
  // ZeRO 0: one all-reduce of all gradients. An hour of backward hides all but `dp_shown` of it.
  const rankwright::plan::TrainingConfig config = sample::timed(sample::dense_setup({.dp = 4}));
  const Links links(config, catalog::calibration());
  const Seconds all =
      links.time(plan::Op::all_reduce, bytes(rank_share(config, 0).dense, config.job.grad_bytes()),
                 mesh::GroupKind::shard);
  const DataTime time = of(config, 3600.0_s);
  EXPECT_NEAR(time.shown / (catalog::calibration()[cluster::Constant::dp_shown] * all), 1, 1e-12);
  EXPECT_NEAR((time.shown + time.hidden) / all, 1, 1e-12);
}

TEST(DataTime, OfATiedEmbeddingAddsItsGradientBetweenTheEdges) {
  rankwright::plan::TrainingConfig config = sample::timed(sample::dense_setup({.pp = 2}));
  EXPECT_EQ(of(config, 1.0_s).shown, Seconds{});
  config.model.tied = true;
  const Links links(config, catalog::calibration());
  const Bytes size = bytes(plan::embedding_share(config.model, 1).dense, config.job.grad_bytes());
  EXPECT_EQ(of(config, 1.0_s).shown,
            links.time(plan::Op::all_reduce, size, mesh::GroupKind::edges));
  // A V brings the head back to the embedding's pp rank.
  config.plan.schedule = pipeline::Schedule::zb_v;
  config.plan.virtual_stages = 2;
  EXPECT_EQ(of(config, 1.0_s).shown, Seconds{});
}

/// Nothing hides its traffic.
plan::Plan bare(plan::Plan plan) {
  plan.overlap.grad_reduce = plan.overlap.param_gather = false;
  return plan;
}

rankwright::plan::TrainingConfig experts(plan::Plan plan) {
  return sample::timed(sample::config_of(sample::model_of({{8, sample::sparse_layer()}}), plan));
}

/// One call over the ranks that shard dense parameters.
Seconds call(const rankwright::plan::TrainingConfig& config, plan::Op op, i64 each) {
  return Links(config, catalog::calibration())
      .time(op, bytes(rank_share(config, 0).dense, each), mesh::GroupKind::shard);
}

TEST(DataTime, OfHybridShardsAddsUpEachShardOverItsCopies) {
  // 8 ranks in shards of 2: scattered in pairs, then half of it over 4 copies, then gathered.
  const rankwright::plan::TrainingConfig config =
      sample::timed(sample::dense_setup(bare({.dp = 8, .zero = 1, .shard_size = 2})));
  const i64 each = config.job.grad_bytes();
  const Seconds copies =
      Links(config, catalog::calibration())
          .time(plan::Op::all_reduce, bytes(rank_share(config, 0).dense, each) / 2,
                mesh::GroupKind::replicate);
  const Seconds expected =
      call(config, plan::Op::reduce_scatter, each) + copies + call(config, plan::Op::all_gather, 2);
  EXPECT_GT(copies, Seconds{});
  EXPECT_NEAR(of(config, 1.0_s).shown / expected, 1, 1e-12);
}

TEST(DataTime, OfZero1AllReducesWhereTheSoftwareDoes) {
  rankwright::plan::TrainingConfig config =
      sample::timed(sample::dense_setup(bare({.dp = 4, .zero = 1})));
  const i64 each = config.job.grad_bytes();
  const Seconds gather = call(config, plan::Op::all_gather, 2);
  EXPECT_EQ(of(config, 1.0_s).shown, call(config, plan::Op::reduce_scatter, each) + gather);
  config.software.all_reduces = true;
  EXPECT_EQ(of(config, 1.0_s).shown, call(config, plan::Op::all_reduce, each) + gather);
}

TEST(DataTime, OfExpertsIsOverTheRanksThatHoldTheSameOnes) {
  // 8 ranks, each 4 of the 8 experts: 4 ranks hold the same, 2 in a group do not.
  const rankwright::plan::TrainingConfig config = experts(bare({.dp = 8, .ep = 2}));
  const i64 each = config.job.grad_bytes();
  const Links links(config, catalog::calibration());
  ASSERT_EQ(links.span(mesh::GroupKind::edp).size, 4);
  const Seconds routed = links.time(plan::Op::all_reduce, bytes(rank_share(config, 0).expert, each),
                                    mesh::GroupKind::edp);
  EXPECT_EQ(of(config, 1.0_s).shown, call(config, plan::Op::all_reduce, each) + routed);
}

TEST(DataTime, IsHiddenBesideTheOtherChunksToo) {
  // 2 chunks on 4 pp ranks, 2 microbatches: the window is 1 + (2 - 1) (2 - 1) / 2 = 1.5 backwards.
  // A backward that takes half of that traffic's time over the window hides 1.5 / 2 of it.
  rankwright::plan::TrainingConfig config = sample::timed(sample::dense_setup(
      {.dp = 2, .pp = 4, .virtual_stages = 2, .schedule = pipeline::Schedule::looped_bfs}, 2));
  const Seconds all = call(config, plan::Op::all_reduce, config.job.grad_bytes());
  const Seconds backward = 0.5 / catalog::calibration()[cluster::Constant::dp_window] * all;
  EXPECT_NEAR(of(config, 0.5 * backward).shown / all, 0.25, 1e-12);
}

TEST(DataTime, OfWeightsIsHiddenBesideForward) {
  // Forward hides a quarter of the gather, a backward twice as long so much of the scatter twice.
  const rankwright::plan::TrainingConfig config =
      sample::timed(sample::dense_setup({.dp = 4, .zero = 1}));
  const Seconds scatter = call(config, plan::Op::reduce_scatter, config.job.grad_bytes());
  const Seconds gather = call(config, plan::Op::all_gather, 2);
  const Seconds forward = 0.25 / catalog::calibration()[cluster::Constant::dp_window] * gather;
  const Seconds expected = (scatter - 0.5 * gather) + 0.75 * gather;
  EXPECT_NEAR(of(config, forward).shown / expected, 1, 1e-12);
}

TEST(DataTime, OfFsdpScattersEveryMicrobatchUnlessInAPipeline) {
  // 4 microbatches at ZeRO-2: 4 scatters and a gather; in a pipeline the last one scatters for all.
  for (const i64 pp : {1, 2}) {
    rankwright::plan::TrainingConfig config =
        sample::timed(sample::dense_setup(bare({.dp = 4, .pp = pp, .zero = 2})));
    config.software.fsdp = true;
    const Seconds expected =
        (pp == 1 ? 4 : 1) * call(config, plan::Op::reduce_scatter, config.job.grad_bytes()) +
        call(config, plan::Op::all_gather, config.job.activation_bytes());
    EXPECT_NEAR(of(config, 1.0_s).shown / expected, 1, 1e-12) << "pp=" << pp;
  }
}

TEST(DataTime, OfZero3GathersTwiceAndScattersOnceAMicrobatch) {
  // 8 units of a gather g and a scatter s, 4 microbatches. Beside nothing all of 8 (2 g + s) shows,
  // and once more g + s at the ends; beside an hour only what slows it, and the ends.
  rankwright::plan::TrainingConfig config =
      sample::timed(sample::dense_setup({.dp = 4, .zero = 3}));
  const Links links(config, catalog::calibration());
  const i64 unit = rank_share(config, 0).dense / 8;
  const auto one = [&](plan::Op op, i64 each) {
    return links.time(op, bytes(unit, each), mesh::GroupKind::shard);
  };
  const Seconds g = one(plan::Op::all_gather, 2),
                s = one(plan::Op::reduce_scatter, config.job.grad_bytes());
  const Seconds all = 4 * 8 * (2 * g + s);
  const DataTime none = of(config, Seconds{}), hour = of(config, 3600.0_s);
  EXPECT_NEAR(none.shown / (all + g + s), 1, 1e-12);
  const Seconds apply_overheads = catalog::calibration()[cluster::Constant::zero3_contention] * all;
  EXPECT_NEAR(hour.shown / (apply_overheads + g + s), 1, 1e-12);
  EXPECT_NEAR((hour.shown + hour.hidden) / all, 1, 1e-12);
  config.software.gathers_fp8 = true;
  config.job.matmul = plan::Matmul::fp8;
  const Seconds less = g - one(plan::Op::all_gather, 1);
  EXPECT_NEAR((none.shown - of(config, Seconds{}).shown) / ((4 * 8 * 2 + 1) * less), 1, 1e-9);
}

TEST(DataTime, OfAMirroredPairAddsUpAllItsGradients) {
  // DualPipe on 2 pp ranks: each holds both stages, so all parameters, experts too.
  const rankwright::plan::TrainingConfig config =
      experts({.pp = 2, .schedule = pipeline::Schedule::dualpipe});
  ASSERT_GT(rank_share(config, 0).expert, 0);
  const Bytes size = bytes(rank_share(config, 0).total(), config.job.grad_bytes());
  EXPECT_EQ(of(config, 1.0_s).shown,
            Links(config, catalog::calibration())
                .time(plan::Op::all_reduce, size, mesh::GroupKind::mirror));
}

TEST(DataTime, OfSoftwareWithOneRailUsesOneNic) {
  rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 2\nparallelism: {dp_size: 16, zero_stage: 0}\n");
  config.plan.overlap.grad_reduce = false;
  config.software.single_rail = true;
  const Bytes size = bytes(rank_share(config, 0).dense, config.job.grad_bytes());
  const Links links(config, catalog::calibration());
  EXPECT_EQ(of(config, 1.0_s).shown,
            links.single_rail(plan::Op::all_reduce, size, mesh::GroupKind::shard));
}

RC_GTEST_PROP(DataTime, IsNeverLessWithLessComputationBesideIt, ()) {
  const rankwright::plan::TrainingConfig config = sample::random_timed();
  const Seconds each{double(*rc::gen::inRange(1, 1000)) * 1e-3};
  const DataTime more = of(config, 2 * each), less = of(config, each);
  RC_ASSERT(less.hidden.value >= 0);
  // Under ZeRO-2 and 3 what is hidden slows the computation: there more of it may show more.
  RC_ASSERT(config.plan.zero >= 2 || less.shown.value >= more.shown.value * (1 - 1e-12));
}

}  // namespace data_time_test
}  // namespace rankwright::cost
