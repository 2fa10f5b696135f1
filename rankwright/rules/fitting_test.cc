#include "rankwright/rules/fitting.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "rankwright/catalog/catalog.h"
#include "tests/support/typed_configs.h"
#include "tests/support/typed_plans.h"

namespace rankwright::rules {
namespace fitting_test {

const std::string kEight =
    "model: llama-3.1-8b\ncluster: dgx-h100 x 1\nworld_size: 8\n"
    "job: {global_batch: 64, sequence: 4096}\n";

const std::string kPlans[] = {
    kEight + "parallelism: {dp_size: 8}\n",
    kEight + "parallelism: {dp_size: 8, zero_stage: 2, micro_batch: 4}\n",
    "model: llama-3.1-70b\ncluster: dgx-h100 x 8\nworld_size: 64\n"
    "job: {global_batch: 128, sequence: 8192}\nparallelism: {tp_size: 2, dp_size: 32}\n",
    "model: mixtral-8x7b\ncluster: dgx-h100 x 2\nworld_size: 16\n"
    "job: {global_batch: 64, sequence: 4096}\nparallelism: {dp_size: 16, zero_stage: 1}\n",
};

TEST(CheapestFits, NothingCanFit_ReturnsNone) {
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.1-405b\ncluster: dgx-h100 x 1\nworld_size: 8\n"
      "parallelism: {dp_size: 8}\n");
  EXPECT_TRUE(find_cheapest_fits(config, Target::any, 3).empty());
}

TEST(CheapestFits, MatchTheEstimateOfTheEditedPlanFile) {
  for (const std::string& plan : kPlans) {
    const std::vector<FittingChange> fits = find_cheapest_fits(config_of(plan), Target::any, 3);
    ASSERT_FALSE(fits.empty()) << plan;
    EXPECT_LE(fits.size(), 3u);
    for (const FittingChange& fit : fits) {
      const rankwright::plan::TrainingConfig typed =
          config_of(typed_plans::typed(plan, fit.change.edits()));
      const cost::Estimate again = cost::estimate_closely(typed, catalog::get_calibration());
      EXPECT_TRUE(again.fits()) << plan;
      EXPECT_EQ(again.memory.total(), fit.estimate.memory.total()) << plan;
      EXPECT_EQ(again.time(), fit.estimate.time()) << plan;
    }
  }
}

TEST(CheapestFits, AreSortedByMarginThenByTimePerSequence) {
  for (const std::string& plan : kPlans) {
    const std::vector<FittingChange> fits = find_cheapest_fits(config_of(plan), Target::any, 100);
    ASSERT_GT(fits.size(), 1u) << plan;
    for (std::size_t i = 1; i < fits.size(); ++i) {
      const bool sure = fits[i - 1].estimate.sure(), then = fits[i].estimate.sure();
      EXPECT_TRUE(sure || !then);
      EXPECT_TRUE(sure != then || fits[i - 1].time_per_sequence() <= fits[i].time_per_sequence());
    }
  }
}

TEST(CheapestFits, AreAtLeastAsFastAsAnySingleChangeByHand) {
  // Every ZeRO stage, recompute mode and (tp, pp) of 8 ranks, one change at a time, on the first
  // plan.
  const rankwright::plan::TrainingConfig config = config_of(kPlans[0]);
  std::vector<Change> tried;
  for (const int stage : {1, 2, 3}) tried.push_back(Change(config).zero(stage));
  for (const plan::Recompute r : {plan::Recompute::selective, plan::Recompute::full})
    tried.push_back(Change(config).recompute(r));
  for (const i64 tp : {1, 2, 4, 8})
    for (const i64 pp : {1, 2, 4, 8})
      if (tp * pp > 1 && tp * pp <= 8) tried.push_back(Change(config).degrees(tp, pp, 8 / tp / pp));
  Seconds best{1e9};
  for (const Change& change : tried) {
    if (find_first_violation(change.config())) continue;
    const cost::Estimate e = cost::estimate_plan(change.config(), catalog::get_calibration());
    if (e.fits() && e.sure()) best = std::min(best, e.time());
  }
  const std::vector<FittingChange> fits = find_cheapest_fits(config, Target::any, 3);
  ASSERT_FALSE(fits.empty());
  EXPECT_LE(fits.front().estimate.time(), best);
}

TEST(CheapestFits, RecomputeTheFewestLayersThatFitWithMargin) {
  // 4 sequences per microbatch through 32 layers do not fit; recomputing some of the layers does.
  const rankwright::plan::TrainingConfig config = config_of(kPlans[1]);
  ASSERT_FALSE(cost::estimate_plan(config, catalog::get_calibration()).fits());
  for (const FittingChange& fit : find_cheapest_fits(config, Target::any, 100)) {
    const i64 layers = fit.change.config().plan.recompute_layers;
    if (layers <= 1) continue;
    EXPECT_TRUE(fit.estimate.sure());
    const cost::Estimate less = cost::estimate_plan(
        Change(config).recompute_layers(layers - 1).config(), catalog::get_calibration());
    EXPECT_FALSE(less.fits() && less.sure()) << layers;
    return;
  }
  ADD_FAILURE() << "no number of layers was proposed";
}

TEST(CheapestFits, UseOnlyTheZeroStagesOfTheTarget) {
  const rankwright::plan::TrainingConfig config = config_of(kPlans[0]);
  const std::vector<FittingChange> nanotron = find_cheapest_fits(config, Target::nanotron, 100);
  const std::vector<FittingChange> titan = find_cheapest_fits(config, Target::torchtitan, 100);
  ASSERT_FALSE(nanotron.empty() || titan.empty());
  for (const FittingChange& fit : nanotron) EXPECT_LE(fit.change.config().plan.zero, 1);
  for (const FittingChange& fit : titan) EXPECT_NE(fit.change.config().plan.zero, 1);
}

TEST(SupportedZeroStages, SecondFrontEnd_HasThoseOfItsCode) {
  for (const TargetRow& target : targets())
    EXPECT_EQ(supported_zero_stages(target.target), supported_zero_stages(target.rules))
        << target.name;
  EXPECT_EQ(supported_zero_stages(Target::torchtitan_0_2), (std::vector<int>{2, 3}));
  EXPECT_EQ(supported_zero_stages(Target::nanotron), (std::vector<int>{1}));
  EXPECT_EQ(supported_zero_stages(Target::any), (std::vector<int>{1, 2, 3}));
}

TEST(CheapestFits, WithMargin_LeaveMoreThanTheEstimateError) {
  for (const std::string& plan : kPlans) {
    const std::vector<FittingChange> fits =
        find_cheapest_fits(config_of(plan), Target::any, 100, true);
    ASSERT_FALSE(fits.empty()) << plan;
    for (const FittingChange& fit : fits)
      EXPECT_TRUE(fit.estimate.fits() && fit.estimate.sure()) << plan;
  }
}

}  // namespace fitting_test
}  // namespace rankwright::rules
