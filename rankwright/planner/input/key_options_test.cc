#include "rankwright/planner/input/key_options.h"

#include <gtest/gtest.h>

#include "rankwright/planner/check.h"
#include "rankwright/planner/explain.h"

namespace rankwright::planner {
namespace key_options_test {

const std::string kPlan =
    "model: llama-3.1-8b\ncluster: dgx-a100 x 2\n"
    "parallelism: {tp_size: 2, dp_size: 8, zero_stage: 2}\n";

PlanSource source(OptionTexts job, const std::string& text = kPlan) {
  return {.plan = {"plan.yaml", text}, .job = std::move(job)};
}

// A flag states what the plan file could state: both give the same figures.
TEST(KeyOptions, EqualTheKeyInThePlanFile) {
  const Outcome<CheckAnswer> flags = check_plan(
      {.plan = source({{"seq", "4096"}, {"framework", "deepspeed"}, {"attention", "unfused"}})});
  const Outcome<CheckAnswer> file = check_plan(
      {.plan = source({}, kPlan + "job: {sequence: 4096}\n"
                                  "software: {framework: deepspeed, attention: unfused}\n")});
  ASSERT_TRUE(flags && file && flags->estimate && file->estimate);
  EXPECT_EQ(flags->config->software, file->config->software);
  EXPECT_EQ(flags->estimate->time(), file->estimate->time());
  EXPECT_EQ(flags->estimate->memory.total(), file->estimate->memory.total());
}

TEST(KeyOptions, CheckAndExplain_GiveTheSameStep) {
  const PlanSource asked = source({{"framework", "deepspeed"}, {"global-batch", "64"}});
  const Outcome<CheckAnswer> checked = check_plan({.plan = asked});
  const Outcome<ExplainAnswer> explained = explain_plan(asked);
  ASSERT_TRUE(checked && checked->estimate && explained);
  EXPECT_EQ(checked->estimate->time(), explained->explain_view.estimate.time());
}

// DeepSpeed of 2021 wrote the scores of attention to memory and used one NIC per node.
TEST(KeyOptions, OlderRow_IsSlowerAndLarger) {
  const auto check = [](const char* framework) {
    return check_plan({.plan = source({{"framework", framework}, {"seq", "4096"}})});
  };
  const Outcome<CheckAnswer> today = check("deepspeed"), old = check("deepspeed-2021");
  ASSERT_TRUE(today && old && today->estimate && old->estimate);
  EXPECT_LT(today->estimate->time(), old->estimate->time());
  EXPECT_LT(today->estimate->memory.total(), old->estimate->memory.total());
}

TEST(KeyOptions, BadValue_IsAFindingThatNamesTheFlag) {
  const Outcome<CheckAnswer> answer = check_plan({.plan = source({{"attention", "flahs2"}})});
  ASSERT_TRUE(answer.has_value());
  EXPECT_FALSE(answer->readable);
  ASSERT_FALSE(answer->findings.empty());
  EXPECT_EQ(answer->findings[0].code, "RW0907");
  EXPECT_EQ(answer->findings[0].where.file, "--attention");
}

}  // namespace key_options_test
}  // namespace rankwright::planner
