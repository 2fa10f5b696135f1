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

TEST(FindFasterOnFewer, SlowerRow_NamesTheFastestBeforeIt) {
  const PlansByCount answer = three_counts();
  EXPECT_FALSE(find_faster_on_fewer(answer, 0));
  EXPECT_FALSE(find_faster_on_fewer(answer, 1));
  EXPECT_EQ(find_faster_on_fewer(answer, 2), 1u);
}

TEST(FindFasterOnFewer, EqualTimeOrNoPlan) {
  PlansByCount answer = three_counts();
  answer.rows[2].plan = answer.rows[1].plan;
  EXPECT_EQ(find_faster_on_fewer(answer, 2), 1u);  // no faster: the GPU may stay idle
  answer.rows[2].plan.reset();
  EXPECT_FALSE(find_faster_on_fewer(answer, 2));
}

TEST(FindNextCounts, MissedDeadline_ExtrapolatesTheRate) {
  PlansByCount answer = three_counts();
  answer.rows.resize(2);
  answer.training.tokens = 10 * 64 * 4096.0;
  answer.training.deadline = Seconds{1};
  choose_count(answer);
  // 2 GPUs take 40 s, so 80 GPUs take 1 s: 10 nodes of 8.
  EXPECT_EQ(find_next_counts(answer), (search::Range{80, 160}));
  answer.training.deadline = Seconds{0.99};  // 80.8 GPUs: 11 nodes
  choose_count(answer);
  EXPECT_EQ(find_next_counts(answer), (search::Range{88, 176}));
  answer.training.deadline = Seconds{50};  // met
  choose_count(answer);
  EXPECT_FALSE(find_next_counts(answer));
}

TEST(FindNextCounts, MoreGpusAreSlower_HasNoAnswer) {
  PlansByCount answer = three_counts();
  answer.training.tokens = 10 * 64 * 4096.0;
  answer.training.deadline = Seconds{1};
  choose_count(answer);
  EXPECT_FALSE(find_next_counts(answer));
  answer.training.deadline.reset();
  choose_count(answer);
  EXPECT_FALSE(find_next_counts(answer));
}

}  // namespace counts_answer_test
}  // namespace rankwright::planner
