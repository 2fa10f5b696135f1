#include "rankwright/cost/data_time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "tests/setups.h"
#include "tests/timed.h"

namespace rankwright {
namespace data_time_test {

/// A rank with this much work beside its traffic.
RankWork work(const rankwright::Setup& setup, Seconds each) {
  return {.forward = each, .backward = 2 * each, .share = rank_share(setup, 0), .layers = 8};
}

DataTime of(const rankwright::Setup& setup, Seconds each) {
  return data_time(setup, work(setup, each), Links(setup, calibration()), calibration());
}

TEST(DataTime, OfOneRankIsNone) {
  const DataTime time = of(sample::timed(sample::dense_setup({})), 1.0_s);
  EXPECT_EQ(time.shown, Seconds{});
  EXPECT_EQ(time.hidden, Seconds{});
}

TEST(DataTime, ShowsAPartHoweverLongTheComputation) {
  // ZeRO 0: one all-reduce of all gradients. An hour of backward hides all but `dp_shown` of it.
  const rankwright::Setup setup = sample::timed(sample::dense_setup({.dp = 4}));
  const Links links(setup, calibration());
  const Seconds all = links.time(
      Op::all_reduce, bytes(rank_share(setup, 0).dense, setup.job.grad_bytes()), GroupKind::shard);
  const DataTime time = of(setup, 3600.0_s);
  EXPECT_NEAR(time.shown / (calibration()[Constant::dp_shown] * all), 1, 1e-12);
  EXPECT_NEAR((time.shown + time.hidden) / all, 1, 1e-12);
}

TEST(DataTime, OfATiedEmbeddingAddsItsGradientBetweenTheEdges) {
  rankwright::Setup setup = sample::timed(sample::dense_setup({.pp = 2}));
  EXPECT_EQ(of(setup, 1.0_s).shown, Seconds{});
  setup.model.tied = true;
  const Links links(setup, calibration());
  const Bytes size = bytes(embedding_share(setup.model, 1).dense, setup.job.grad_bytes());
  EXPECT_EQ(of(setup, 1.0_s).shown, links.time(Op::all_reduce, size, GroupKind::edges));
  // A V brings the head back to the embedding's pp rank.
  setup.plan.schedule = Schedule::zb_v;
  setup.plan.virtual_stages = 2;
  EXPECT_EQ(of(setup, 1.0_s).shown, Seconds{});
}

/// Nothing hides its traffic.
Plan bare(Plan plan) {
  plan.overlap.grad_reduce = plan.overlap.param_gather = false;
  return plan;
}

rankwright::Setup experts(Plan plan) {
  return sample::timed(sample::setup_of(sample::model_of({{8, sample::sparse_layer()}}), plan));
}

/// One call over the ranks that shard dense parameters.
Seconds call(const rankwright::Setup& setup, Op op, i64 each) {
  return Links(setup, calibration())
      .time(op, bytes(rank_share(setup, 0).dense, each), GroupKind::shard);
}

TEST(DataTime, OfHybridShardsAddsUpEachShardOverItsCopies) {
  // 8 ranks in shards of 2: scattered in pairs, then half of it over 4 copies, then gathered.
  const rankwright::Setup setup =
      sample::timed(sample::dense_setup(bare({.dp = 8, .zero = 1, .shard_size = 2})));
  const i64 each = setup.job.grad_bytes();
  const Seconds copies =
      Links(setup, calibration())
          .time(Op::all_reduce, bytes(rank_share(setup, 0).dense, each) / 2, GroupKind::replicate);
  const Seconds expected =
      call(setup, Op::reduce_scatter, each) + copies + call(setup, Op::all_gather, 2);
  EXPECT_GT(copies, Seconds{});
  EXPECT_NEAR(of(setup, 1.0_s).shown / expected, 1, 1e-12);
}

TEST(DataTime, OfZero1AllReducesWhereTheSoftwareDoes) {
  rankwright::Setup setup = sample::timed(sample::dense_setup(bare({.dp = 4, .zero = 1})));
  const i64 each = setup.job.grad_bytes();
  const Seconds gather = call(setup, Op::all_gather, 2);
  EXPECT_EQ(of(setup, 1.0_s).shown, call(setup, Op::reduce_scatter, each) + gather);
  setup.software.all_reduces = true;
  EXPECT_EQ(of(setup, 1.0_s).shown, call(setup, Op::all_reduce, each) + gather);
}

TEST(DataTime, OfExpertsIsOverTheRanksThatHoldTheSameOnes) {
  // 8 ranks, each 4 of the 8 experts: 4 ranks hold the same, 2 in a group do not.
  const rankwright::Setup setup = experts(bare({.dp = 8, .ep = 2}));
  const i64 each = setup.job.grad_bytes();
  const Links links(setup, calibration());
  ASSERT_EQ(links.span(GroupKind::edp).size, 4);
  const Seconds routed =
      links.time(Op::all_reduce, bytes(rank_share(setup, 0).expert, each), GroupKind::edp);
  EXPECT_EQ(of(setup, 1.0_s).shown, call(setup, Op::all_reduce, each) + routed);
}

TEST(DataTime, IsHiddenBesideTheOtherChunksToo) {
  // 2 chunks on 4 pp ranks, 2 microbatches: the window is 1 + (2 - 1) (2 - 1) / 2 = 1.5 backwards.
  // A backward that takes half of that traffic's time over the window hides 1.5 / 2 of it.
  rankwright::Setup setup = sample::timed(sample::dense_setup(
      {.dp = 2, .pp = 4, .virtual_stages = 2, .schedule = Schedule::looped_bfs}, 2));
  const Seconds all = call(setup, Op::all_reduce, setup.job.grad_bytes());
  const Seconds backward = 0.5 / calibration()[Constant::dp_window] * all;
  EXPECT_NEAR(of(setup, 0.5 * backward).shown / all, 0.25, 1e-12);
}

TEST(DataTime, OfWeightsIsHiddenBesideForward) {
  // Forward hides a quarter of the gather, a backward twice as long so much of the scatter twice.
  const rankwright::Setup setup = sample::timed(sample::dense_setup({.dp = 4, .zero = 1}));
  const Seconds scatter = call(setup, Op::reduce_scatter, setup.job.grad_bytes());
  const Seconds gather = call(setup, Op::all_gather, 2);
  const Seconds forward = 0.25 / calibration()[Constant::dp_window] * gather;
  const Seconds expected = (scatter - 0.5 * gather) + 0.75 * gather;
  EXPECT_NEAR(of(setup, forward).shown / expected, 1, 1e-12);
}

TEST(DataTime, OfFsdpScattersEveryMicrobatchUnlessInAPipeline) {
  // 4 microbatches at ZeRO-2: 4 scatters and a gather; in a pipeline the last one scatters for all.
  for (const i64 pp : {1, 2}) {
    rankwright::Setup setup =
        sample::timed(sample::dense_setup(bare({.dp = 4, .pp = pp, .zero = 2})));
    setup.software.fsdp = true;
    const Seconds expected =
        (pp == 1 ? 4 : 1) * call(setup, Op::reduce_scatter, setup.job.grad_bytes()) +
        call(setup, Op::all_gather, setup.job.activation_bytes());
    EXPECT_NEAR(of(setup, 1.0_s).shown / expected, 1, 1e-12) << "pp=" << pp;
  }
}

TEST(DataTime, OfZero3GathersTwiceAndScattersOnceAMicrobatch) {
  // 8 units of a gather g and a scatter s, 4 microbatches. Beside nothing all of 8 (2 g + s) shows,
  // and once more g + s at the ends; beside an hour only what slows it, and the ends.
  rankwright::Setup setup = sample::timed(sample::dense_setup({.dp = 4, .zero = 3}));
  const Links links(setup, calibration());
  const i64 unit = rank_share(setup, 0).dense / 8;
  const auto one = [&](Op op, i64 each) {
    return links.time(op, bytes(unit, each), GroupKind::shard);
  };
  const Seconds g = one(Op::all_gather, 2), s = one(Op::reduce_scatter, setup.job.grad_bytes());
  const Seconds all = 4 * 8 * (2 * g + s);
  const DataTime none = of(setup, Seconds{}), hour = of(setup, 3600.0_s);
  EXPECT_NEAR(none.shown / (all + g + s), 1, 1e-12);
  const Seconds slowed = calibration()[Constant::zero3_contention] * all;
  EXPECT_NEAR(hour.shown / (slowed + g + s), 1, 1e-12);
  EXPECT_NEAR((hour.shown + hour.hidden) / all, 1, 1e-12);
  setup.software.gathers_fp8 = true;
  setup.job.matmul = Matmul::fp8;
  const Seconds less = g - one(Op::all_gather, 1);
  EXPECT_NEAR((none.shown - of(setup, Seconds{}).shown) / ((4 * 8 * 2 + 1) * less), 1, 1e-9);
}

TEST(DataTime, OfAMirroredPairAddsUpAllItsGradients) {
  // DualPipe on 2 pp ranks: each holds both stages, so all parameters, experts too.
  const rankwright::Setup setup = experts({.pp = 2, .schedule = Schedule::dualpipe});
  ASSERT_GT(rank_share(setup, 0).expert, 0);
  const Bytes size = bytes(rank_share(setup, 0).total(), setup.job.grad_bytes());
  EXPECT_EQ(of(setup, 1.0_s).shown,
            Links(setup, calibration()).time(Op::all_reduce, size, GroupKind::mirror));
}

TEST(DataTime, OfSoftwareWithOneRailUsesOneNic) {
  rankwright::Setup setup = setup_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 2\nparallelism: {dp_size: 16, zero_stage: 0}\n");
  setup.plan.overlap.grad_reduce = false;
  setup.software.single_rail = true;
  const Bytes size = bytes(rank_share(setup, 0).dense, setup.job.grad_bytes());
  const Links links(setup, calibration());
  EXPECT_EQ(of(setup, 1.0_s).shown, links.single_rail(Op::all_reduce, size, GroupKind::shard));
}

RC_GTEST_PROP(DataTime, IsNeverLessWithLessComputationBesideIt, ()) {
  const rankwright::Setup setup = sample::random_timed();
  const Seconds each{double(*rc::gen::inRange(1, 1000)) * 1e-3};
  const DataTime more = of(setup, 2 * each), less = of(setup, each);
  RC_ASSERT(less.hidden.value >= 0);
  // Under ZeRO-2 and 3 what is hidden slows the computation: there more of it may show more.
  RC_ASSERT(setup.plan.zero >= 2 || less.shown.value >= more.shown.value * (1 - 1e-12));
}

}  // namespace data_time_test
}  // namespace rankwright
