#include "rankwright/planner/compare/compare_view.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "tests/support/timed_configs.h"
#include "tests/support/typed_configs.h"

namespace rankwright::planner {
namespace compare_view_test {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Returns Llama 8B on two nodes, with `parallelism` as typed.
rankwright::plan::TrainingConfig on_two_nodes(const std::string& parallelism, i64 batch = 32) {
  return config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: " + std::to_string(batch) +
      ", sequence: 4096}\nparallelism: {" + parallelism + "}\n");
}
const std::string kPlan = "tp_size: 4, pp_size: 2, dp_size: 2, zero_stage: 1";

const Cause* cause_of(const CompareView& view, cost::Item item) {
  for (const Cause& cause : view.causes)
    if (cause.item == item) return &cause;
  return nullptr;
}

std::string words_of(const CompareView& view, cost::Item item) {
  const Cause* const cause = cause_of(view, item);
  return cause == nullptr ? "(no cause)" : cause->words;
}

TEST(Compare, PlanWithItself_HasNoDifference) {
  const rankwright::plan::TrainingConfig plan = on_two_nodes(kPlan);
  const CompareView view = make_compare_view(plan, plan);
  EXPECT_EQ(view.difference(), Seconds{});
  EXPECT_TRUE(view.keys.empty());
  EXPECT_TRUE(view.causes.empty());
  EXPECT_TRUE(view.tie());
}

TEST(Compare, SameTokens_ComparesSteps) {
  const CompareView view =
      make_compare_view(on_two_nodes(kPlan), on_two_nodes("tp_size: 8, dp_size: 2"));
  EXPECT_EQ(view.basis, Basis::step);
  EXPECT_NEAR(view.total_a / view.a.time(), 1, 1e-12);
}

TEST(Compare, OtherBatch_ComparesAMillionTokens) {
  // A step has 32 x 4,096 = 131,072 tokens, so a million tokens take 10^6 / 131,072 steps.
  const CompareView view = make_compare_view(on_two_nodes(kPlan), on_two_nodes(kPlan, 64));
  EXPECT_EQ(view.basis, Basis::tokens);
  EXPECT_NEAR(view.total_a / view.a.time(), 1e6 / 131'072, 1e-9);
  EXPECT_NEAR(view.total_b / view.b.time(), 1e6 / 262'144, 1e-9);
}

TEST(Compare, OtherWorld_ComparesGpuTime) {
  const rankwright::plan::TrainingConfig large = config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 4\njob: {global_batch: 32, sequence: 4096}\n"
      "parallelism: {tp_size: 4, pp_size: 2, dp_size: 4, zero_stage: 1}\n");
  const CompareView view = make_compare_view(on_two_nodes(kPlan), large);
  EXPECT_EQ(view.basis, Basis::device_tokens);
  // 16 and 32 devices, each for the time of a million tokens.
  EXPECT_NEAR(view.total_a / view.a.time(), 16 * 1e6 / 131'072, 1e-9);
  EXPECT_NEAR(view.total_b / view.b.time(), 32 * 1e6 / 131'072, 1e-9);
}

TEST(Cause, RecomputeInOnePlan_IsNamed) {
  rankwright::plan::TrainingConfig slow = on_two_nodes(kPlan);
  slow.plan.recompute = plan::Recompute::full;  // one more forward pass: a third of the work
  EXPECT_THAT(words_of(make_compare_view(slow, on_two_nodes(kPlan)), cost::Item::recompute),
              StartsWith("only in A: full, with tp collectives on nvlink"));
}

TEST(Compare, OtherDevice_IsNotPaired) {
  const rankwright::plan::TrainingConfig a = on_two_nodes(kPlan);
  rankwright::plan::TrainingConfig b = a;
  b.cluster.device = *catalog::find_device("h200-sxm");
  EXPECT_FALSE(make_compare_view(a, b).paired);
  EXPECT_TRUE(make_compare_view(a, a).paired);
}

TEST(CompareView, DifferenceWithinTheError_IsATie) {
  CompareView view{.within = 0.1};
  view.total_a = 1.0_s;
  view.total_b = 1.09_s;
  EXPECT_TRUE(view.tie());
  EXPECT_LT(view.lead(), 0);
  view.total_b = 1.11_s;
  EXPECT_FALSE(view.tie());
  std::swap(view.total_a, view.total_b);  // symmetric
  EXPECT_FALSE(view.tie());
  EXPECT_NEAR(view.lead(), 0.11, 1e-12);
  EXPECT_NEAR(view.gap(), 0.11, 1e-12);
}

TEST(Cause, TensorParallelismAcrossNodes_NamesTheLink) {
  const CompareView view = make_compare_view(on_two_nodes("tp_size: 8, dp_size: 2"),
                                             on_two_nodes("tp_size: 8, dp_size: 2, order: dp-tp"));
  EXPECT_GT(view.difference(), Seconds{});
  const std::string words = words_of(view, cost::Item::tp);
  EXPECT_THAT(words, HasSubstr("on infiniband instead of nvlink"));
  EXPECT_THAT(words, HasSubstr("in both over 8 ranks"));
}

TEST(Cause, Bubble_NamesChunksAndMicrobatches) {
  // 16 microbatches on 2 stages: 1 / 17 = 5.88 % idle; with 4 chunks 1 / 65 = 1.54 %.
  const CompareView view =
      make_compare_view(on_two_nodes(kPlan), on_two_nodes(kPlan + ", virtual_stages: 4"));
  const std::string words = words_of(view, cost::Item::bubble);
  EXPECT_THAT(words, HasSubstr("interleaved-1f1b instead of 1f1b"));
  EXPECT_THAT(words, HasSubstr("4 chunks each instead of 1"));
  EXPECT_THAT(words, HasSubstr("1.54 % ideal bubble instead of 5.88 %"));
  EXPECT_THAT(words, HasSubstr("16 microbatches"));
}

TEST(Cause, Matmul_NamesShapes) {
  // 14,336 columns, divided by tp 2 and tp 8.
  const CompareView view = make_compare_view(on_two_nodes("tp_size: 2, dp_size: 8, zero_stage: 1"),
                                             on_two_nodes("tp_size: 8, dp_size: 2, zero_stage: 1"));
  const std::string words = words_of(view, cost::Item::matmul);
  EXPECT_THAT(words, HasSubstr("4,096 x 1,792 rows and columns"));
  EXPECT_THAT(words, HasSubstr("instead of 4,096 x 7,168"));
  EXPECT_THAT(words, HasSubstr("of peak instead of "));
}

TEST(Cause, Imbalance_NamesTheSlowestPpRankAndItsLayers) {
  rankwright::plan::TrainingConfig uneven = on_two_nodes(kPlan);
  uneven.plan.stages = {{.layers = 26, .embedding = true}, {.layers = 6, .loss = true}};
  const CompareView view = make_compare_view(on_two_nodes(kPlan), uneven);
  const std::string words = words_of(view, cost::Item::imbalance);
  EXPECT_THAT(words, HasSubstr("pp rank 0 instead of 1"));
  EXPECT_THAT(words, HasSubstr("26 layers, embedding on it instead of 16 layers, head and loss"));
}

TEST(Cause, ItemOfOnePlan_IsNamed) {
  const CompareView view = make_compare_view(on_two_nodes("dp_size: 16, zero_stage: 1"),
                                             on_two_nodes("tp_size: 8, dp_size: 2, zero_stage: 1"));
  EXPECT_THAT(words_of(view, cost::Item::tp),
              StartsWith("only in B: most of it TP all-gather, on nvlink, over 8 ranks"));
}

TEST(Cause, ZeroStage_NamesStageAndOverlap) {
  const CompareView view = make_compare_view(on_two_nodes("dp_size: 16, zero_stage: 1"),
                                             on_two_nodes("dp_size: 16, zero_stage: 3"));
  const std::string words = words_of(view, cost::Item::dp);
  EXPECT_THAT(words, HasSubstr("ZeRO-3 instead of ZeRO-1"));
  EXPECT_THAT(words, HasSubstr("hidden"));
}

RC_GTEST_PROP(Compare, RandomPlans_ItemsAddUpToTheDifference, ()) {
  const rankwright::plan::TrainingConfig a = sample::random_timed_config(),
                                         b = sample::random_timed_config();
  const CompareView view = make_compare_view(a, b);
  Seconds time{};
  for (const TimeRow& row : view.items) {
    RC_ASSERT(row.a > Seconds{} || row.b > Seconds{});
    time += row.difference();
  }
  const double larger = std::max(view.total_a, view.total_b).value;
  RC_ASSERT(std::abs((time - view.difference()).value) <= 1e-12 * larger);
  Bytes memory{};
  for (const MemoryRow& row : view.entries) memory += row.difference();
  const Bytes apart = view.b.memory.total() - view.a.memory.total();
  RC_ASSERT(std::abs((memory - apart).value) <=
            1e-12 * std::max(view.b.memory.total().value, view.a.memory.total().value));
}

RC_GTEST_PROP(Compare, SwappedPlans_GiveTheOppositeDifference, ()) {
  const rankwright::plan::TrainingConfig a = sample::random_timed_config(),
                                         b = sample::random_timed_config();
  const CompareView there = make_compare_view(a, b), back = make_compare_view(b, a);
  RC_ASSERT(there.items.size() == back.items.size());
  RC_ASSERT(there.total_a == back.total_b && there.total_b == back.total_a);
  RC_ASSERT(there.tie() == back.tie());
  RC_ASSERT(there.causes.size() == back.causes.size());
  for (std::size_t i = 0; i < there.causes.size(); ++i)
    RC_ASSERT(there.causes[i].difference.value == -back.causes[i].difference.value);
}

RC_GTEST_PROP(Causes, RandomPlans_ListTheLargestDifferencesFirst, ()) {
  const CompareView view =
      make_compare_view(sample::random_timed_config(), sample::random_timed_config());
  RC_ASSERT(view.causes.size() <= 3u);
  double last = std::numeric_limits<double>::infinity();
  for (const Cause& cause : view.causes) {
    RC_ASSERT(!cause.words.empty());
    RC_ASSERT(std::abs(cause.difference.value) <= last);
    last = std::abs(cause.difference.value);
    for (const std::string hole : {"  ", ", ,", "of ,", ": ,", "(in both )"})
      RC_ASSERT(cause.words.find(hole) == std::string::npos);
    RC_ASSERT(cause.words.find_last_of(", ") + 1 != cause.words.size());
  }
}

}  // namespace compare_view_test
}  // namespace rankwright::planner
