#include "rankwright/planner/plan.h"

#include <gtest/gtest.h>

#include "rankwright/plan/constraint_violation.h"
#include "rankwright/planner/plan/plan_options.h"
#include "tests/support/golden.h"
#include "tests/support/refusal_lines.h"

namespace rankwright::planner {
namespace plan_test {

/// Returns a request with a small search space: a search takes a few milliseconds.
PlanRequest small_request(OptionTexts more = {}) {
  OptionTexts texts{
      {"model", "llama-3.2-1b"}, {"cluster", "dgx-a100"}, {"global-batch", "256"}, {"seq", "2048"}};
  texts.merge(more);
  return read_plan_options(texts).value();
}

TEST(FindPlan, NoModel_IsRefused) {
  const Outcome<PlanAnswer> answer = find_plan({});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, Refusal::Kind::usage);
  golden::expect("planner/plan-refusals.txt", format_refusal("plan", answer));
}

TEST(FindPlan, InvalidPlanFile_IsRefused) {
  PlanRequest request = small_request();
  request.plan_file = SourceFile{.name = "plan.yaml", .text = "parallelism: {tp_size: many}"};
  const Outcome<PlanAnswer> broken = find_plan(request);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().kind, Refusal::Kind::unreadable);
  EXPECT_EQ(broken.error().file.name, "plan.yaml");
  EXPECT_FALSE(broken.error().findings.empty());
}

TEST(FindPlan, RangeOfGpus_IsRefused) {
  EXPECT_FALSE(find_plan(small_request({{"gpus", "1..8"}})));
  EXPECT_FALSE(find_plans_by_count(small_request()));
}

// 1 B parameters have 16 GB of states: every 80 GiB device holds a copy.
TEST(FindPlan, SmallModel_IsDataParallel) {
  const PlanAnswer answer = find_plan(small_request({{"tokens", "1B"}})).value();
  ASSERT_TRUE(answer.answer.best);
  EXPECT_EQ(answer.best().config.plan.dp, 8);
  EXPECT_TRUE(find_violations(answer.best().config).empty());
  EXPECT_FALSE(answer.neighbors.empty());
  EXPECT_FALSE(answer.targets.empty());
  EXPECT_EQ(answer.stopped, StopReason::none);
  EXPECT_EQ(answer.explain_view.estimate.time(), answer.best().time());
  // 1e9 tokens are 1,907.3 steps of 256 x 2,048.
  EXPECT_EQ(answer.run.value().steps, 1908);
}

// 70 B parameters have 1.1 TB of states; a node has 0.6 TB.
TEST(FindPlan, TooLargeModel_ReportsTheLeanestPlanAndWhereItFits) {
  const PlanAnswer answer =
      find_plan(read_plan_options({{"model", "llama-3.1-70b"}, {"cluster", "dgx-a100"}}).value())
          .value();
  ASSERT_FALSE(answer.answer.best);
  EXPECT_GT(answer.leanest.value().memory_estimate.total(), answer.problem.capacity);
  EXPECT_GT(answer.fewest.value().gpus, 8);
}

TEST(FindPlan, ShouldStop_EndsTheSearch) {
  std::vector<std::string> phases;
  const SearchControl control{.phase = [&](const std::string& what) { phases.push_back(what); },
                              .should_stop = [] { return true; }};
  const PlanAnswer answer = find_plan(small_request(), control).value();
  EXPECT_EQ(answer.stopped, StopReason::asked);
  EXPECT_FALSE(answer.answer.complete);
  EXPECT_TRUE(phases.empty());
}

TEST(FindPlan, TimeLimit_AnswersWithTheBestSoFar) {
  PlanRequest request = small_request();
  request.budget.time = Seconds{1e-9};
  const PlanAnswer answer = find_plan(request).value();
  EXPECT_EQ(answer.stopped, StopReason::time);
  EXPECT_FALSE(answer.answer.complete);
  EXPECT_TRUE(answer.neighbors.empty());
}

TEST(FindPlan, MemoryLimit_AnswersWithTheBestSoFar) {
  PlanRequest request = small_request();
  request.budget.memory = Bytes{-1};  // a negative limit is reached at once
  EXPECT_EQ(find_plan(request).value().stopped, StopReason::memory);
}

TEST(FindPlan, Budget_IsReadFromOptions) {
  const PlanRequest request = small_request({{"search-time", "30s"}, {"search-memory", "2GiB"}});
  EXPECT_EQ(request.budget, (SearchBudget{Seconds{30}, Bytes{2.0 * 1024 * 1024 * 1024}}));
  EXPECT_FALSE(read_plan_options({{"search-time", "0s"}}));
  EXPECT_FALSE(read_plan_options({{"search-memory", "much"}}));
}

TEST(FindPlan, Phases_AreReported) {
  std::vector<std::string> phases;
  i64 rounds = 0;
  const SearchControl control{.phase = [&](const std::string& what) { phases.push_back(what); },
                              .progress = [&](const search::SearchProgress&) { ++rounds; }};
  ASSERT_TRUE(find_plan(small_request(), control));
  ASSERT_EQ(phases.size(), 2u);  // the plans next to the best, then the trade-offs
  golden::expect("planner/plan-phases.txt", phases[0] + "\n" + phases[1] + "\n");
  EXPECT_GT(rounds, 0);
}

TEST(FindPlansByCount, Deadline_ChoosesTheFewestGpusThatMeetIt) {
  // Half a node takes about twice as long as the node, so a deadline of 2.5 times suffices.
  const PlanAnswer all = find_plan(small_request()).value();
  PlanRequest request = small_request({{"gpus", "1..8"}, {"tokens", "1B"}});
  request.training.deadline = 1908 * 2.5 * all.best().time();
  const PlansByCount answer = find_plans_by_count(request).value();
  ASSERT_TRUE(answer.chosen);
  EXPECT_LT(answer.rows[*answer.chosen].gpus, 8);
  EXPECT_TRUE(answer.has_verdict(*answer.chosen, DeadlineVerdict::meets));
  for (std::size_t k = 0; k < *answer.chosen; ++k)
    EXPECT_FALSE(answer.has_verdict(k, DeadlineVerdict::meets));
}

// A deadline of exactly the estimated time is met within its error: some row is the answer.
TEST(FindPlansByCount, DeadlineWithinTheError_IsMetByTheFewestThatMay) {
  const PlanAnswer all = find_plan(small_request()).value();
  PlanRequest request = small_request({{"gpus", "1..8"}, {"tokens", "1B"}});
  request.training.deadline = 1908 * all.best().time();
  const PlansByCount answer = find_plans_by_count(request).value();
  ASSERT_TRUE(answer.chosen);
  EXPECT_EQ(answer.rows[*answer.chosen].gpus, 8);
  EXPECT_TRUE(answer.has_verdict(*answer.chosen, DeadlineVerdict::within_error));
}

TEST(FindPlansByCount, LargestCount_IsThePlanOfThatCluster) {
  const PlansByCount rows = find_plans_by_count(read_plan_options({{"model", "llama-3.1-8b"},
                                                                   {"cluster", "dgx-h100"},
                                                                   {"gpus", "8..32"},
                                                                   {"no-cp", "true"}})
                                                    .value())
                                .value();
  const PlanAnswer alone =
      find_plan(read_plan_options(
                    {{"model", "llama-3.1-8b"}, {"cluster", "dgx-h100 x 4"}, {"no-cp", "true"}})
                    .value())
          .value();
  EXPECT_EQ(rows.rows.back().gpus, 32);
  EXPECT_EQ(rows.rows.back().plan.value().config.plan, alone.best().config.plan);
  EXPECT_EQ(rows.rows.back().plan->time(), alone.best().time());
}

}  // namespace plan_test
}  // namespace rankwright::planner
