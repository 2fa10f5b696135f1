#include "rankwright/planner/compare/compare_view.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "tests/support/golden.h"
#include "tests/support/timed_configs.h"
#include "tests/support/typed_configs.h"

namespace rankwright::planner {
namespace compare_view_test {

/// Returns Llama 8B on two nodes, with `parallelism` as typed.
rankwright::plan::TrainingConfig on_two_nodes(const std::string& parallelism, i64 batch = 32) {
  return config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: " + std::to_string(batch) +
      ", sequence: 4096}\nparallelism: {" + parallelism + "}\n");
}
const std::string kPlan = "tp_size: 4, pp_size: 2, dp_size: 2, zero_stage: 1";

std::string words_of(const CompareView& view, cost::Item item) {
  for (const Cause& cause : view.causes)
    if (cause.item == item) return cause.words;
  ADD_FAILURE() << row(item).name << " is not a cause";
  return "";
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

/// Returns Llama 8B on four nodes.
rankwright::plan::TrainingConfig on_four_nodes(i64 batch) {
  return config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 4\njob: {global_batch: " + std::to_string(batch) +
      ", sequence: 4096}\nparallelism: {tp_size: 4, pp_size: 2, dp_size: 4, zero_stage: 1}\n");
}

TEST(Compare, SameStepOnMoreGpus_ComparesSteps) {
  const CompareView view = make_compare_view(on_two_nodes(kPlan), on_four_nodes(32));
  EXPECT_EQ(view.basis, Basis::step);
  EXPECT_NEAR(view.total_b / view.b.time(), 1, 1e-12);
}

TEST(Compare, OtherWorldAndBatch_ComparesGpuTime) {
  const CompareView view = make_compare_view(on_two_nodes(kPlan), on_four_nodes(64));
  EXPECT_EQ(view.basis, Basis::device_tokens);
  // 16 and 32 devices, each for the time of a million tokens.
  EXPECT_NEAR(view.total_a / view.a.time(), 16 * 1e6 / 131'072, 1e-9);
  EXPECT_NEAR(view.total_b / view.b.time(), 32 * 1e6 / 262'144, 1e-9);
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

TEST(Cause, TensorParallelismAcrossNodes_IsSlower) {
  EXPECT_GT(make_compare_view(on_two_nodes("tp_size: 8, dp_size: 2"),
                              on_two_nodes("tp_size: 8, dp_size: 2, order: dp-tp"))
                .difference(),
            Seconds{});
}

TEST(Cause, EachItem_NamesTheSettingsThatDiffer) {
  std::string text;
  const auto add = [&](const std::string& what, const rankwright::plan::TrainingConfig& a,
                       const rankwright::plan::TrainingConfig& b, cost::Item item) {
    text += fmt::format("{}: {}\n  {}\n", row(item).name, what,
                        words_of(make_compare_view(a, b), item));
  };
  const rankwright::plan::TrainingConfig plan = on_two_nodes(kPlan);
  rankwright::plan::TrainingConfig slow = plan, uneven = plan;
  slow.plan.recompute = plan::Recompute::full;  // one more forward pass: a third of the work
  uneven.plan.stages = {{.layers = 26, .embedding = true}, {.layers = 6, .loss = true}};
  const rankwright::plan::TrainingConfig dp_16 = on_two_nodes("dp_size: 16, zero_stage: 1"),
                                         tp_8 =
                                             on_two_nodes("tp_size: 8, dp_size: 2, zero_stage: 1");

  add("A recomputes all layers", slow, plan, cost::Item::recompute);
  add("tp crosses nodes in B", on_two_nodes("tp_size: 8, dp_size: 2"),
      on_two_nodes("tp_size: 8, dp_size: 2, order: dp-tp"), cost::Item::tp);
  add("no tp in A, tp 8 in B", dp_16, tp_8, cost::Item::tp);
  // 16 microbatches on 2 stages: 1 / 17 = 5.88 % idle; with 4 chunks 1 / 65 = 1.54 %.
  add("4 chunks in B", plan, on_two_nodes(kPlan + ", virtual_stages: 4"), cost::Item::bubble);
  // 14,336 columns: 7,168 with tp 2, and 1,792 with tp 8.
  add("tp 2 in A, tp 8 in B", on_two_nodes("tp_size: 2, dp_size: 8, zero_stage: 1"), tp_8,
      cost::Item::matmul);
  // The slowest is pp rank 1, with the head; with 26 of 32 layers, pp rank 0.
  add("26 of 32 layers on pp rank 0 in B", plan, uneven, cost::Item::imbalance);
  // 8.03 B parameters, of which a rank of 16 keeps 0.50 B with ZeRO-3.
  const auto few_tokens = [](int zero) {
    return config_of(
        "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 16, sequence: 128}\n"
        "parallelism: {dp_size: 16, zero_stage: " +
        std::to_string(zero) + "}\n");
  };
  add("ZeRO-2 in A, ZeRO-3 in B", few_tokens(2), few_tokens(3), cost::Item::optimizer);
  rankwright::plan::TrainingConfig b200 = plan;
  b200.cluster = config_of("model: llama-3.1-8b\ncluster: dgx-b200 x 2\n").cluster;
  add("B on B200", plan, b200, cost::Item::matmul);
  add("B on twice the GPUs", plan, on_four_nodes(32), cost::Item::matmul);
  add("ZeRO-1 in A, ZeRO-3 in B", dp_16, on_two_nodes("dp_size: 16, zero_stage: 3"),
      cost::Item::dp);
  golden::expect("planner/compare-causes.txt", text);
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
