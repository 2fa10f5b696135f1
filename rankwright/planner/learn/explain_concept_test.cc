#include "rankwright/planner/learn/explain_concept.h"

#include <gtest/gtest.h>

#include "rankwright/planner/explain.h"
#include "rankwright/planner/explain_faults.h"

namespace rankwright::planner {
namespace explain_concept_test {

const PlanSource kPlan{
    .plan = {"plan.yaml",
             "model: llama-3.2-1b\ncluster: dgx-h100 x 1\njob: {global_batch: 32, sequence: 2048}\n"
             "parallelism: {tp_size: 2, pp_size: 2, dp_size: 2}\n"}};

double value_of(const ConceptAnswer& answer, const std::string& label) {
  for (const ConceptFact& fact : answer.facts.facts)
    if (fact.label == label) return fact.value.value_or(-1);
  ADD_FAILURE() << "no fact " << label;
  return -1;
}

TEST(ExplainConcept, EveryPage_AcceptsAPlan) {
  for (const ConceptPage& page : concept_pages()) {
    const Outcome<ConceptAnswer> answer = explain_concept(std::string(page.typed), kPlan);
    ASSERT_TRUE(answer.has_value()) << page.typed;
    EXPECT_EQ(answer->page, &page);
    EXPECT_TRUE(page.collective || !answer->facts.facts.empty()) << page.typed;
  }
}

TEST(ExplainConcept, Straggler_IsThatOfSlow) {
  const Outcome<ConceptAnswer> answer = explain_concept("straggler", kPlan);
  ASSERT_TRUE(answer.has_value());
  const Outcome<FaultsAnswer> slow = explain_faults({kPlan, {.slow = {"0:1.2x"}}});
  EXPECT_EQ(value_of(*answer, "after"), slow->faults.slow->after.value);
  EXPECT_EQ(value_of(*answer, "before"), slow->faults.slow->before.value);
  EXPECT_GT(value_of(*answer, "after"), value_of(*answer, "before"));
  // A rank that computes 1.2 times as long cannot slow the step by more.
  EXPECT_LE(value_of(*answer, "after"), 1.2 * value_of(*answer, "before"));
}

TEST(ExplainConcept, Checkpoint_IsThatOfFail) {
  const Outcome<ConceptAnswer> answer = explain_concept("checkpoint", kPlan);
  ASSERT_TRUE(answer.has_value());
  const Outcome<FaultsAnswer> failed = explain_faults({kPlan, {.fail = 0}});
  EXPECT_EQ(value_of(*answer, "time"), failed->faults.failure.task.model.checkpoint.value);
  EXPECT_EQ(value_of(*answer, "goodput"), failed->faults.failure.uptime.useful);
  // 1,235,814,400 parameters in bf16, with an fp32 copy and two fp32 moments: 14 bytes each.
  EXPECT_EQ(value_of(*answer, "size"), 1235814400.0 * 14);
}

TEST(ExplainConcept, WordsWithoutNumbersAndInvalidPlans_AreRefused) {
  EXPECT_EQ(explain_concept("RW0301", kPlan).error().kind, Refusal::Kind::usage);
  EXPECT_EQ(explain_concept("headroom", kPlan).error().kind, Refusal::Kind::usage);
  EXPECT_EQ(explain_concept("tpp", kPlan).error().kind, Refusal::Kind::unreadable);
  const PlanSource invalid{
      .plan = {"misfit.yaml", "world_size: 8\nparallelism: {tp_size: 3, dp_size: 2}\n"}};
  EXPECT_EQ(explain_concept("tp", invalid).error().kind, Refusal::Kind::refused);
}

}  // namespace explain_concept_test
}  // namespace rankwright::planner
