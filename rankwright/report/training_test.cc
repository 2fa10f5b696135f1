#include "rankwright/report/training.h"

#include <gtest/gtest.h>

namespace rankwright {
namespace training_test {

/// A step of `seconds` over 16 x 1,000 tokens on 8 GPUs.
struct Case {
  rankwright::Setup setup{.model = {}, .cluster = {}, .job = {}, .plan = {}};
  Estimate estimate{};

  explicit Case(double seconds) {
    setup.world = 8;
    setup.job = {.global_batch = 16, .sequence = 1000};
    estimate.step[Item::matmul] = Seconds{seconds};
    estimate.step_band = {.within = 0.1, .rows = 5};
  }
};

TEST(Training, IsNothingWithoutTokens) {
  const Case one(2);
  EXPECT_FALSE(training(one.setup, one.estimate, {}));
}

TEST(Training, MatchesTheWorkedExample) {
  // 1,000,001 tokens are 63 steps of 16,000 (62.5 rounded up); 63 x 3,600 s are 63 h; on 8 GPUs
  // 504 GPU-hours; at 2.50 that is 1,260.
  const Case one(3600);
  const TrainingAsk ask{.tokens = 1'000'001, .price = Price{2.5, "$", ""}, .deadline = {}};
  const Training run = training(one.setup, one.estimate, ask).value();
  EXPECT_EQ(run.steps, 63);
  EXPECT_DOUBLE_EQ(run.time.value, 63 * 3600.0);
  EXPECT_DOUBLE_EQ(run.gpu_hours, 504);
  EXPECT_DOUBLE_EQ(run.cost.value(), 1260);
  EXPECT_EQ(training_text(run, ask),
            "1 M tokens: 63 steps, 2.62 days ±6.3 h, 504 GPU-hours, $1.26 k ±$126.00 at $2.50 a "
            "GPU-hour");
}

TEST(Training, SaysWhetherItIsInTime) {
  // 100 steps of 864 s are a day.
  const Case one(864);
  const auto said = [&](double days) {
    const TrainingAsk ask{.tokens = 1'600'000, .price = {}, .deadline = Seconds{days * 86400}};
    return training_text(training(one.setup, one.estimate, ask).value(), ask);
  };
  EXPECT_EQ(said(2), "1.6 M tokens: 100 steps, 1 day ±2.4 h, 192 GPU-hours; in time for 2 days");
  EXPECT_EQ(said(0.5),
            "1.6 M tokens: 100 steps, 1 day ±2.4 h, 192 GPU-hours; 12 h too late for 12 h");
  // Within a tenth of a day nobody knows.
  EXPECT_TRUE(said(1.05).ends_with("in time for 1.05 days, within the error"));
}

TEST(Money, StandsWithItsCurrency) {
  EXPECT_EQ(money(2.1, {}), "2.10");
  EXPECT_EQ(money(1.5e6, {.amount = 1, .before = "$", .after = ""}), "$1.5 M");
  EXPECT_EQ(money(1.5e6, {.amount = 1, .before = "", .after = "EUR"}), "1.5 M EUR");
}

}  // namespace training_test
}  // namespace rankwright
