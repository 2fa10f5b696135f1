// Findings of single schedule rules. Properties of all rules are in rule_test.cc.
#include <gtest/gtest.h>

#include <algorithm>

#include "rankwright/rules/rule.h"
#include "tests/support/golden.h"
#include "tests/support/typed_plans.h"

namespace rankwright::rules {
namespace schedule_test {

using typed_plans::diagnose;

/// Returns the finding of RW0405 for DeepSeek-V3 on 16 pp ranks; an empty one if there is none.
Diagnostic lint_uneven_stages(const std::string& stages) {
  const Diagnostics found = diagnose(
      "world_size: 128\n"
      "cluster: dgx-h100 x 16\n"
      "model: deepseek-v3\n"
      "parallelism: {pp_size: 16, ep_size: 8, dp_size: 8, order: tp-dp-pp" +
          stages +
          "}\n"
          "job: {global_batch: 1024, sequence: 4096}\n",
      Target::any);
  const auto mine = std::find_if(found.begin(), found.end(),
                                 [](const Diagnostic& d) { return d.code == "RW0405"; });
  return mine == found.end() ? Diagnostic{} : *mine;
}

TEST(ShardedGradients, BothTorchtitans_ReduceThemOnce) {
  const std::string plan =
      "world_size: 64\ncluster: dgx-h100 x 8\nmodel: llama-3.1-70b\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, zero_stage: 2}\n"
      "job: {global_batch: 128, sequence: 8192}\n";
  const auto codes_for = [&](Target target) { return typed_plans::codes(diagnose(plan, target)); };
  EXPECT_THAT(codes_for(Target::megatron), testing::Contains("RW0406"));
  for (const Target target : {Target::torchtitan, Target::torchtitan_0_2})
    EXPECT_THAT(codes_for(target), testing::Not(testing::Contains("RW0406")));
}

// Groups of one rank have nothing to reduce in a micro-batch.
TEST(ShardedGradients, ShardsOfOneRank_AreNotReported) {
  const std::string plan =
      "world_size: 64\ncluster: dgx-h100 x 8\nmodel: llama-3.1-70b\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, zero_stage: 3, shard_size: 1}\n"
      "job: {global_batch: 128, sequence: 8192}\n";
  EXPECT_THAT(typed_plans::codes(diagnose(plan, Target::any)),
              testing::Not(testing::Contains("RW0406")));
}

std::string join_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(UnevenWork, ProposesTheBestStages) {
  // The arithmetic is in cost/work_test.cc.
  const Diagnostic found = lint_uneven_stages("");
  EXPECT_EQ(found.code, "RW0405");
  EXPECT_EQ(found.hint, "stages: Etttt|(tttt|)*14tmL");
  golden::expect("rules/uneven-stages.txt", join_lines(found.notes));
}

// No split makes these stages more even, so that there is nothing to do.
TEST(UnevenWork, BestStagesGiven_IsSilent) {
  EXPECT_EQ(lint_uneven_stages(", stages: \"Etttt|(tttt|)*14tmL\"").code, "");
}

}  // namespace schedule_test
}  // namespace rankwright::rules
