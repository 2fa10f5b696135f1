#include "rankwright/planner/plan/counts_answer.h"

#include "tests/support/typed_configs.h"

namespace rankwright::planner {
namespace counts_answer_test {

/// Returns rows of 1, 2 and 3 GPUs whose steps take 8, 4 and 5 s: the third is more expensive and
/// slower.
PlansByCount three_counts() {
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 64, sequence: 4096}\n"
      "parallelism: {dp_size: 16}");
  PlansByCount answer{.problem = search::make_problem(config)};
  for (const double seconds : {8.0, 4.0, 5.0}) {
    search::EvaluatedPlan one{.config = config};
    one.estimate.step[cost::Item::matmul] = Seconds{seconds};
    answer.rows.push_back({.gpus = i64(answer.rows.size() + 1), .plan = one, .leanest = {}});
  }
  return answer;
}

TEST(ChooseCount, NoPlan_ChoosesNothing) {
  PlansByCount answer = three_counts();
  for (search::CountRow& row : answer.rows) row.plan.reset();
  choose_count(answer);
  EXPECT_FALSE(answer.chosen);
  EXPECT_EQ(answer.runs.size(), 3u);
}

TEST(ChooseCount, NoDeadline_ChoosesTheFastest) {
  PlansByCount answer = three_counts();
  choose_count(answer);
  EXPECT_EQ(answer.chosen, 1u);
}

TEST(ChooseCount, Deadline_ChoosesTheFewestGpusThatMeetIt) {
  PlansByCount answer = three_counts();
  // 64 x 4,096 tokens per step: 10 steps take 80, 40 and 50 s.
  answer.training.tokens = 10 * 64 * 4096.0;
  const auto chosen_for = [&](double seconds) {
    answer.training.deadline = Seconds{seconds};
    choose_count(answer);
    return answer.chosen;
  };
  EXPECT_EQ(chosen_for(85), 0u);
  EXPECT_EQ(chosen_for(60), 1u);
  EXPECT_FALSE(chosen_for(30));
}

}  // namespace counts_answer_test
}  // namespace rankwright::planner
