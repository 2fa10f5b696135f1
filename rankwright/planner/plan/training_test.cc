#include "rankwright/planner/plan/training.h"

#include <gtest/gtest.h>

namespace rankwright::planner {
namespace training_test {

/// A step of `seconds` with 16 x 1,000 tokens on 8 GPUs.
struct Case {
  rankwright::plan::TrainingConfig config{.model = {}, .cluster = {}, .job = {}, .plan = {}};
  cost::Estimate estimate{};

  explicit Case(double seconds) {
    config.world = 8;
    config.job = {.global_batch = 16, .sequence = 1000};
    estimate.step[cost::Item::matmul] = Seconds{seconds};
    estimate.step_band = {.within = 0.1, .rows = 5};
  }
};

TEST(Training, NoTokens_ReturnsNothing) {
  const Case one(2);
  EXPECT_FALSE(estimate_training(one.config, one.estimate, {}));
}

TEST(Training, TokensAndPrice_GiveStepsTimeAndCost) {
  // 1,000,001 tokens are 63 steps of 16,000 (62.5 rounded up). 63 x 3,600 s are 63 h, on 8 GPUs 504
  // GPU-hours, which cost 1,260 at 2.50.
  const Case one(3600);
  const TrainingRequest ask{.tokens = 1'000'001, .price = Price{2.5, "$", ""}, .deadline = {}};
  const Training run = estimate_training(one.config, one.estimate, ask).value();
  EXPECT_EQ(run.steps, 63);
  EXPECT_DOUBLE_EQ(run.time.value, 63 * 3600.0);
  EXPECT_DOUBLE_EQ(run.gpu_hours, 504);
  EXPECT_DOUBLE_EQ(run.cost.value(), 1260);
}

TEST(Training, Deadline_IsComparedWithTheTimeAndItsError) {
  // 100 steps of 864 s are one day, +-2.4 hours.
  const Case one(864);
  const auto verdict = [&](double days) {
    const TrainingRequest ask{.tokens = 1'600'000, .price = {}, .deadline = Seconds{days * 86400}};
    return estimate_training(one.config, one.estimate, ask).value().deadline.value();
  };
  EXPECT_EQ(verdict(1.101), DeadlineVerdict::meets);
  EXPECT_EQ(verdict(1.099), DeadlineVerdict::within_error);
  EXPECT_EQ(verdict(0.901), DeadlineVerdict::within_error);
  EXPECT_EQ(verdict(0.899), DeadlineVerdict::misses);
}

}  // namespace training_test
}  // namespace rankwright::planner
