#include "rankwright/report/plan/training_text.h"

#include <gtest/gtest.h>

namespace rankwright::report {
namespace training_text_test {

TEST(TrainingText, NamesStepsTimeGpuHoursAndCost) {
  const planner::TrainingRequest ask{
      .tokens = 1'000'001, .price = planner::Price{2.5, "$", ""}, .deadline = {}};
  const planner::Training run{.steps = 63,
                              .time = Seconds{63 * 3600.0},
                              .within = 0.1,
                              .gpu_hours = 504,
                              .cost = 1260,
                              .in_time = {}};
  EXPECT_EQ(describe_training_run(run, ask),
            "1 M tokens: 63 steps, 2.62 days ±6.3 h, 504 GPU-hours, $1.26 k ±$126.00 at $2.50 a "
            "GPU-hour");
}

TEST(TrainingText, SaysWhetherTheDeadlineIsMet) {
  const auto said = [](double days) {
    const planner::TrainingRequest ask{
        .tokens = 1'600'000, .price = {}, .deadline = Seconds{days * 86400}};
    const planner::Training run{.steps = 100,
                                .time = Seconds{86400},
                                .within = 0.1,
                                .gpu_hours = 192,
                                .cost = {},
                                .in_time = days >= 1};
    return describe_training_run(run, ask);
  };
  EXPECT_EQ(said(2), "1.6 M tokens: 100 steps, 1 day ±2.4 h, 192 GPU-hours; in time for 2 days");
  EXPECT_EQ(said(0.5),
            "1.6 M tokens: 100 steps, 1 day ±2.4 h, 192 GPU-hours; 12 h too late for 12 h");
  // A tenth of a day is within the error.
  EXPECT_TRUE(said(1.05).ends_with("in time for 1.05 days, within the error"));
}

TEST(Money, HasItsCurrency) {
  EXPECT_EQ(format_money(2.1, {}), "2.10");
  EXPECT_EQ(format_money(1.5e6, {.amount = 1, .before = "$", .after = ""}), "$1.5 M");
  EXPECT_EQ(format_money(1.5e6, {.amount = 1, .before = "", .after = "EUR"}), "1.5 M EUR");
}

}  // namespace training_text_test
}  // namespace rankwright::report
