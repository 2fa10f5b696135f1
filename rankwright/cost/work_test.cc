#include "rankwright/cost/work.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "rankwright/model/flops.h"
#include "tests/sample.h"

namespace rankwright {
namespace {

// A layer, one token of 2048: 2 x (2,621,440 + 12,582,912) for the weights, and half of 2048 x
// (1024 + 1024) products, 2 each, for causal attention.
constexpr double kLayer = 2 * 15'204'352.0 + 2048.0 * 2048;
constexpr double kHead = 2 * 32'768'000.0;

TEST(Work, OfThePipelineHasTheHeadOnTheLastRank) {
  const std::vector<Flops> by_rank = work(sample::dense_setup({.pp = 4}));
  ASSERT_EQ(by_rank.size(), 4u);
  EXPECT_DOUBLE_EQ(by_rank[0].value, 2 * kLayer);
  EXPECT_DOUBLE_EQ(by_rank[3].value, 2 * kLayer + kHead);
}

TEST(Work, OfMtpIsALayerAndAProjectionThereAndAHeadWithTheLoss) {
  rankwright::Setup setup = sample::dense_setup({.pp = 4});
  setup.model.mtp_layers = 1;
  setup.plan.stages = *parse_layout("Et*4|t*4|m|L");
  const std::vector<Flops> by_rank = work(setup);
  EXPECT_DOUBLE_EQ(by_rank[2].value, kLayer + 2 * 2 * 1024.0 * 1024);
  EXPECT_DOUBLE_EQ(by_rank[3].value, 2 * kHead);
}

TEST(Work, OfAMirrorIsHalfOfTwoStages) {
  // Ranks 0 and 3 have the first and the last stage, each for half of the tokens.
  const std::vector<Flops> by_rank =
      work(sample::dense_setup({.pp = 4, .schedule = Schedule::dualpipe}, 8));
  EXPECT_DOUBLE_EQ(by_rank[1].value, 2 * kLayer);
  EXPECT_DOUBLE_EQ(by_rank[0].value, 2 * kLayer + kHead / 2);
  EXPECT_EQ(by_rank[0], by_rank[3]);
}

RC_GTEST_PROP(Work, AddsUpToAThirdOfTraining, ()) {
  const Setup setup = sample::random_setup();
  const std::vector<Flops> by_rank = work(setup);
  const Flops sum = std::accumulate(by_rank.begin(), by_rank.end(), Flops{});
  const Flops training =
      training_flops_per_token(setup.model, setup.job.sequence, FlopsConvention::megatron_causal);
  RC_ASSERT(std::abs(3 * sum.value - training.value) <= 1e-9 * training.value);
}

TEST(WorkAgain, IsOfLayersAndNotOfTheHead) {
  rankwright::Setup setup = sample::dense_setup({.pp = 4, .recompute = Recompute::full});
  EXPECT_DOUBLE_EQ(work_again(setup)[3].value, 2 * kLayer);
  setup.plan.recompute_layers = 1;
  EXPECT_DOUBLE_EQ(work_again(setup)[3].value, kLayer);
  setup.plan.recompute = Recompute::selective;
  EXPECT_EQ(work_again(setup)[3].value, 0);
}

TEST(WorkAgain, OfAMirrorIsHalfOfTwoStages) {
  rankwright::Setup setup = sample::dense_setup(
      {.pp = 4, .schedule = Schedule::dualpipe, .recompute = Recompute::full}, 8);
  EXPECT_DOUBLE_EQ(work_again(setup)[3].value, 2 * kLayer);
  setup.plan.recompute_layers = 3;  // of the four that the rank holds
  EXPECT_DOUBLE_EQ(work_again(setup)[3].value, 3 * kLayer / 2);
}

RC_GTEST_PROP(WorkAgain, IsNeverMoreThanTheWork, ()) {
  const Setup setup = sample::random_setup();
  const std::vector<Flops> once = work(setup), again = work_again(setup);
  for (std::size_t r = 0; r < once.size(); ++r) RC_ASSERT(again[r] <= once[r]);
}

TEST(Imbalance, IsWhatTheBusiestHasAboveTheMean) {
  // 3 + 3 + 6 = 12, mean 4: half more
  EXPECT_DOUBLE_EQ(imbalance({Flops{3}, Flops{3}, Flops{6}}), 0.5);
  EXPECT_DOUBLE_EQ(imbalance({Flops{5}}), 0);
}

}  // namespace
}  // namespace rankwright
