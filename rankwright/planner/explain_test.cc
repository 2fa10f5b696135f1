#include "rankwright/planner/explain.h"

#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/refusal_lines.h"

namespace rankwright::planner {
namespace explain_test {

const PlanSource kPlan{
    .plan = {"plan.yaml",
             "model: llama-3.2-1b\ncluster: dgx-h100 x 1\njob: {global_batch: 32, sequence: 2048}\n"
             "parallelism: {tp_size: 2, pp_size: 2, dp_size: 2}\n"}};
const PlanSource kInvalidPlan{
    .plan = {"misfit.yaml", "world_size: 8\nparallelism: {tp_size: 3, dp_size: 2}\n"}};

TEST(ExplainPlan, ValidPlan_ReturnsItsEstimate) {
  const Outcome<ExplainAnswer> answer = explain_plan(kPlan);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->plan.name(), "plan.yaml");
  EXPECT_EQ(answer->explain_view.totals.size(), 2u);  // one per pp rank
  EXPECT_EQ(answer->explain_view.waterfall.total, answer->explain_view.estimate.time());
}

TEST(ExplainPlan, ConstraintViolation_IsRefusedByEveryView) {
  EXPECT_EQ(explain_plan(kInvalidPlan).error().kind, Refusal::Kind::refused);
  EXPECT_EQ(explain_rank(kInvalidPlan, 0).error().kind, Refusal::Kind::refused);
  EXPECT_EQ(explain_stages(kInvalidPlan).error().kind, Refusal::Kind::refused);
  EXPECT_EQ(explain_sensitivity(kInvalidPlan).error().kind, Refusal::Kind::refused);
}

TEST(ExplainRank, LastRank_IsDescribed_NextIsRefused) {
  const Outcome<ExplainRankAnswer> last = explain_rank(kPlan, 7);
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->view.rank, 7);
  const Outcome<ExplainRankAnswer> next = explain_rank(kPlan, 8);
  ASSERT_FALSE(next.has_value());
  EXPECT_EQ(next.error().kind, Refusal::Kind::usage);
  EXPECT_EQ(next.error().hint, "--rank 7");
}

TEST(ExplainStages, ValidPlan_ShowsAllLayers) {
  const Outcome<ExplainStagesAnswer> answer = explain_stages(kPlan);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(count_layers(answer->view.now), answer->plan.config().model.layers());
}

TEST(ExplainRivals, PlanAgainstItself_HasNoLead) {
  const Outcome<ExplainRivalsAnswer> answer = explain_rivals(kPlan, kPlan.plan);
  ASSERT_TRUE(answer.has_value());
  EXPECT_DOUBLE_EQ(answer->view.comparison.lead, 0);
}

TEST(ExplainRivals, InvalidOtherPlan_IsRefusedByItsName) {
  const Outcome<ExplainRivalsAnswer> answer = explain_rivals(kPlan, kInvalidPlan.plan);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().file.name, "misfit.yaml");
}

TEST(ExplainWord, CodesInEitherCase_KeysByAnyPath) {
  EXPECT_EQ(explain_term("rw0301")->page, explain_term("RW0301")->page);
  ASSERT_NE(explain_term("RW0301")->page, nullptr);
  ASSERT_NE(explain_term("zero_stage")->key, nullptr);
  EXPECT_EQ(explain_term("zero_stage")->key, explain_term("plan.zero_stage")->key);
}

TEST(ExplainWord, Misspelling_IsRefusedWithTheNearestName) {
  const Outcome<ExplainTermAnswer> answer = explain_term("zero_stge");
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, Refusal::Kind::unreadable);
}

TEST(CheckViews, SeveralViews_AreRefused_AgainstNeedsSensitivity) {
  EXPECT_FALSE(check_views({}));
  EXPECT_FALSE(check_views({.rank = true}));
  EXPECT_FALSE(check_views({.sensitivity = true, .against = true}));
  EXPECT_TRUE(check_views({.rank = true, .stages = true}));
  EXPECT_TRUE(check_views({.against = true}));
}

TEST(ExplainPlan, Refusals_SayWhatIsWrongAndNameTheNearestName) {
  golden::expect("planner/explain-refusals.txt",
                 format_refusal("--rank 8", explain_rank(kPlan, 8)) +
                     format_refusal("explain zero_stge", explain_term("zero_stge")) +
                     format_refusal("--against", check_views({.against = true}).value()));
}

TEST(CheckViews, Schedule_HasNoPlanViews) {
  EXPECT_FALSE(check_schedule_views({.timeline = true}, {}));
  EXPECT_TRUE(check_schedule_views({.stages = true}, {}));
  EXPECT_TRUE(check_schedule_views({}, {.model = "gpt2"}));
}

}  // namespace explain_test
}  // namespace rankwright::planner
