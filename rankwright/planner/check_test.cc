#include "rankwright/planner/check.h"

#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/refusal_lines.h"

namespace rankwright::planner {
namespace check_test {

const std::string kPlan =
    "model: llama-3.2-1b\ncluster: dgx-h100 x 1\njob: {global_batch: 32, sequence: 2048}\n"
    "parallelism: {tp_size: 2, pp_size: 2, dp_size: 2}\n";

Outcome<CheckAnswer> check(const std::string& text, const std::string& name = "plan.yaml") {
  return check_plan({.plan = {.plan = {name, text}}});
}

TEST(CheckPlan, ValidPlan_IsEstimatedAndProved) {
  const Outcome<CheckAnswer> answer = check(kPlan);
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(answer->readable);
  EXPECT_FALSE(has_errors(answer->findings));
  ASSERT_TRUE(answer->estimate.has_value());
  EXPECT_GT(answer->estimate->time(), Seconds{});
  EXPECT_TRUE(answer->proof.has_value());
}

TEST(CheckPlan, ConstraintViolation_IsAFindingWithoutAnEstimate) {
  const Outcome<CheckAnswer> answer =
      check("world_size: 8\nparallelism: {tp_size: 3, dp_size: 2}\n");
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(answer->readable);
  EXPECT_TRUE(has_errors(answer->findings));
  EXPECT_FALSE(answer->estimate.has_value());
}

TEST(CheckPlan, UnreadableFile_IsAFinding) {
  const Outcome<CheckAnswer> answer = check_plan(
      {.plan = {.plan = {.name = "gone.yaml",
                         .unreadable = Diagnostic{.code = "RW0901", .message = "gone"}}}});
  ASSERT_TRUE(answer.has_value());
  EXPECT_FALSE(answer->readable);
  ASSERT_EQ(answer->findings.size(), 1u);
}

TEST(CheckPlan, Schedule_IsProved) {
  // Two ranks, two microbatches: 8 cells, 4 sends and 4 receives.
  const Outcome<CheckAnswer> answer = check("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n", "order.csv");
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(answer->findings.empty());
  ASSERT_TRUE(answer->schedule.has_value());
  EXPECT_EQ(answer->schedule->pp, 2);
  EXPECT_EQ(answer->schedule->actions, 8 + 4 + 4);
}

TEST(CheckPlan, ScheduleWithAModel_IsRefused) {
  const Outcome<CheckAnswer> answer =
      check_plan({.plan = {.plan = {"order.csv", "0F0,0B0\n"}, .model = "llama-3.2-1b"}});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, Refusal::Kind::usage);
  golden::expect("planner/check-refusals.txt",
                 format_refusal("check order.csv --model llama-3.2-1b", answer));
}

}  // namespace check_test
}  // namespace rankwright::planner
