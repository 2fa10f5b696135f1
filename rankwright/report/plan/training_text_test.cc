#include "rankwright/report/plan/training_text.h"

#include <gtest/gtest.h>

#include "tests/support/golden.h"

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
                              .deadline = {}};
  // 63 h are 2.62 days, and a tenth of them 6.3 h; 504 GPU-hours at $2.50 are $1,260 ±$126.
  golden::expect("report/training-cost.txt", describe_training_run(run, ask) + "\n");
}

TEST(TrainingText, SaysWhetherTheDeadlineIsMet) {
  const auto describe = [](double days) {
    const planner::TrainingRequest ask{
        .tokens = 1'600'000, .price = {}, .deadline = Seconds{days * 86400}};
    const planner::Training run{.steps = 100,
                                .time = Seconds{86400},
                                .within = 0.1,
                                .gpu_hours = 192,
                                .cost = {},
                                .deadline = days > 1.1   ? planner::DeadlineVerdict::meets
                                            : days > 0.9 ? planner::DeadlineVerdict::within_error
                                                         : planner::DeadlineVerdict::misses};
    return describe_training_run(run, ask) + "\n";
  };
  // One day ±10 %: surely in time for 2 days, 12 h late for half a day, and 1.05 days are within
  // the error.
  golden::expect("report/training-deadline.txt", describe(2) + describe(0.5) + describe(1.05));
}

TEST(Money, HasItsCurrency) {
  EXPECT_EQ(format_money(2.1, {}), "2.10");
  EXPECT_EQ(format_money(1.5e6, {.amount = 1, .before = "$", .after = ""}), "$1.5 M");
  EXPECT_EQ(format_money(1.5e6, {.amount = 1, .before = "", .after = "EUR"}), "1.5 M EUR");
}

}  // namespace training_text_test
}  // namespace rankwright::report
