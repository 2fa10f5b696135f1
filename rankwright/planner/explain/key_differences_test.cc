#include "rankwright/planner/explain/key_differences.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/timed_configs.h"
#include "tests/support/typed_configs.h"

namespace rankwright::planner {
namespace key_differences_test {

const std::string kPlan =
    "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 32, sequence: 4096}\n"
    "parallelism: {tp_size: 4, pp_size: 2, dp_size: 2, zero_stage: 1}\n";

TEST(KeyDifferences, OtherRecompute_GivesTypedAndAssumedValues) {
  const rankwright::plan::TrainingConfig a = config_of(kPlan);
  rankwright::plan::TrainingConfig b = config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 32, sequence: 4096}\n"
      "parallelism: {tp_size: 4, pp_size: 2, zero_stage: 1, recompute: {full: 3}}\n");
  const std::vector<KeyDifference> all = find_key_differences(a, b);
  ASSERT_EQ(all.size(), 1u);  // dp is 2 in both, stated or not
  EXPECT_EQ(all[0].key, "parallelism.recompute");
  EXPECT_EQ(all[0].a, "none");
  EXPECT_TRUE(all[0].a_assumed);
  EXPECT_EQ(all[0].b, "{full: 3}");
  EXPECT_FALSE(all[0].b_assumed);
}

TEST(KeyDifferences, EqualNames_AreComparedByContent) {
  const rankwright::plan::TrainingConfig a = config_of(kPlan);
  rankwright::plan::TrainingConfig b = a;
  b.model.vocab += 1;
  b.cluster.levels[1].bandwidth = 25.0_GBps;
  b.plan.placement = {.kind = mesh::Placement::Kind::listed, .devices = {1, 0, 2, 3}};
  const std::vector<KeyDifference> all = find_key_differences(a, b);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].b, "{ranks: [1, 0, 2, 3]}");
  // The vocabulary has 128,256 + 1 rows, and InfiniBand has 25 GB/s instead of 50.
  std::string text;
  for (const KeyDifference& one : all)
    text += fmt::format("{}\n  A: {}\n  B: {}\n", one.key, one.a, one.b);
  golden::expect("planner/key-differences.txt", text);
}

TEST(KeyDifferences, EvenSplit_EqualsItsStatedForm) {
  const rankwright::plan::TrainingConfig a = config_of(kPlan);
  rankwright::plan::TrainingConfig b = a;
  b.plan.stages = a.stages();
  EXPECT_TRUE(find_key_differences(a, b).empty());
  std::swap(b.plan.stages[0].layers, b.plan.stages[1].layers);
  b.plan.stages[0].layers += 1, b.plan.stages[1].layers -= 1;
  ASSERT_EQ(find_key_differences(a, b).size(), 1u);
  EXPECT_EQ(find_key_differences(a, b)[0].a, "even");
}

RC_GTEST_PROP(KeyDifferences, RandomPlans_AreSymmetric_EqualPlansHaveNone, ()) {
  const rankwright::plan::TrainingConfig a = sample::random_timed_config(),
                                         b = sample::random_timed_config();
  RC_ASSERT(find_key_differences(a, a).empty());
  const std::vector<KeyDifference> there = find_key_differences(a, b),
                                   back = find_key_differences(b, a);
  RC_ASSERT(there.size() == back.size());
  for (std::size_t i = 0; i < there.size(); ++i) {
    RC_ASSERT(there[i].key == back[i].key);
    RC_ASSERT(there[i].a != there[i].b);
    RC_ASSERT(there[i].key != "node_shape");  // follows from world_size and cluster
  }
}

}  // namespace key_differences_test
}  // namespace rankwright::planner
