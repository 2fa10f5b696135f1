#include "rankwright/planner/compare.h"

#include <gtest/gtest.h>

namespace rankwright::planner {
namespace compare_test {

PlanSource plan(const std::string& parallelism, const std::string& name = "plan.yaml") {
  return {.plan = {name,
                   "model: llama-3.1-8b\ncluster: dgx-h100 x 2\n"
                   "job: {global_batch: 32, sequence: 4096}\nparallelism: {" +
                       parallelism + "}\n"}};
}

TEST(ComparePlans, PlanWithItself_IsATie) {
  const PlanSource one = plan("tp_size: 8, dp_size: 2");
  const Outcome<CompareAnswer> answer = compare_plans({.a = one, .b = one});
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(answer->view.keys.empty());
  EXPECT_TRUE(answer->view.tie());
}

TEST(ComparePlans, OtherDegrees_ListsTheKeysThatDiffer) {
  const Outcome<CompareAnswer> answer =
      compare_plans({.a = plan("tp_size: 8, dp_size: 2"), .b = plan("tp_size: 4, dp_size: 4")});
  ASSERT_TRUE(answer.has_value());
  ASSERT_EQ(answer->view.keys.size(), 2u);
  EXPECT_EQ(answer->view.keys[0].key, "parallelism.tp_size");
}

TEST(ComparePlans, TwoFaultyPlans_AreBothRefused) {
  const PlanSource violation = plan("tp_size: 3", "misfit.yaml");
  PlanSource broken = violation;
  broken.plan = {"broken.yaml", "parallelism: ["};
  const Outcome<CompareAnswer> answer = compare_plans({.a = violation, .b = broken});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, Refusal::Kind::refused);
  EXPECT_EQ(answer.error().file.name, "misfit.yaml");
  ASSERT_EQ(answer.error().also.size(), 1u);
  EXPECT_EQ(answer.error().also[0].kind, Refusal::Kind::unreadable);
  EXPECT_EQ(answer.error().also[0].file.name, "broken.yaml");
}

TEST(CompareWithLog, LogOfOtherBatch_NamesTheSetting) {
  std::string log;
  for (int i = 1; i <= 10; ++i)
    log += " iteration " + std::to_string(i) +
           "/ 10 | consumed samples: 64 | elapsed time per iteration (ms): 2000.0 | "
           "global batch size: 64 | lm loss: 1.0E+01 |\n";
  const Outcome<CompareLogAnswer> answer =
      compare_with_log({.plan = plan("tp_size: 8, dp_size: 2"), .log = {"run.log", log}});
  ASSERT_TRUE(answer.has_value());
  ASSERT_EQ(answer->view.settings.size(), 1u);
  EXPECT_EQ(answer->view.settings[0].key, "job.global_batch");
  EXPECT_EQ(answer->view.log, "run.log");
}

TEST(CompareWithLog, TextWithoutSteps_IsUnreadable) {
  const Outcome<CompareLogAnswer> answer =
      compare_with_log({.plan = plan("tp_size: 8, dp_size: 2"), .log = {"run.log", "hello\n"}});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, Refusal::Kind::unreadable);
  ASSERT_EQ(answer.error().findings.size(), 1u);
  EXPECT_EQ(answer.error().findings[0].code, "RW0930");
}

}  // namespace compare_test
}  // namespace rankwright::planner
