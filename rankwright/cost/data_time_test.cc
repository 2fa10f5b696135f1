#include "rankwright/cost/data_time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "tests/setups.h"
#include "tests/timed.h"

namespace rankwright {
namespace {

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

RC_GTEST_PROP(DataTime, IsNeverLessWithLessComputationBesideIt, ()) {
  const rankwright::Setup setup = sample::random_timed();
  const Seconds each{double(*rc::gen::inRange(1, 1000)) * 1e-3};
  const DataTime more = of(setup, 2 * each), less = of(setup, each);
  RC_ASSERT(less.hidden.value >= 0);
  // Under ZeRO-2 and 3 what is hidden slows the computation: there more of it may show more.
  RC_ASSERT(setup.plan.zero >= 2 || less.shown.value >= more.shown.value * (1 - 1e-12));
}

}  // namespace
}  // namespace rankwright
