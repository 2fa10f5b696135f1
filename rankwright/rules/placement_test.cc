#include <gtest/gtest.h>

#include "rankwright/rules/rule.h"
#include "tests/support/golden.h"
#include "tests/support/typed_configs.h"

namespace rankwright::rules {
namespace placement_test {

/// Returns the help text of RW0304; empty if the rule is silent.
std::string expert_help(const std::string& parallelism,
                        const std::string& task = "model: mixtral-8x7b, cluster: dgx-h100 x 8") {
  const rankwright::plan::TrainingConfig config = config_of(
      "{" + task + ", parallelism: " + parallelism + ", job: {global_batch: 512, sequence: 4096}}");
  for (const Diagnostic& found : lint(config, Target::any))
    if (found.code == "RW0304") return help(found);
  return "";
}

// With 64 ranks, ep 8 and dp before ep, the eight ranks of a group are 8 apart, one on each node.
TEST(ExpertsCrossNodes, DpBeforeEp_ProposesTheDefaultOrder) {
  golden::expect(
      "rules/experts-order.txt",
      expert_help("{dp_size: 64, ep_size: 8, zero_stage: 1, order: tp-cp-dp-ep-pp}") + "\n");
  EXPECT_EQ(expert_help("{dp_size: 64, ep_size: 8, zero_stage: 1, order: tp-cp-ep-dp-pp}"), "");
}

// 16 ranks of a group are on two nodes; 8 stay on one, and 141 GB hold twice the experts.
TEST(ExpertsCrossNodes, ProposesADegreeThatStaysInsideANode) {
  const std::string task = "model: qwen3-30b-a3b, cluster: dgx-h200 x 2";
  golden::expect("rules/experts-degree.txt",
                 expert_help("{dp_size: 16, ep_size: 16, zero_stage: 1}", task) + "\n");
}

// On 80 GB the experts of ep 8 leave no margin, so that there is nothing better to propose.
TEST(ExpertsCrossNodes, NothingBetterFits_IsSilent) {
  EXPECT_EQ(expert_help("{dp_size: 64, ep_size: 64, zero_stage: 1}",
                        "model: qwen3-30b-a3b, cluster: dgx-h100 x 8"),
            "");
}

}  // namespace placement_test
}  // namespace rankwright::rules
