#include <gtest/gtest.h>

#include "rankwright/rules/rule.h"
#include "tests/support/golden.h"
#include "tests/support/typed_configs.h"

namespace rankwright::rules {
namespace placement_test {

/// Returns the help text of RW0304; empty if the rule is silent.
std::string expert_help(const std::string& parallelism) {
  const rankwright::plan::TrainingConfig config =
      config_of("{model: mixtral-8x7b, cluster: dgx-h100 x 8, parallelism: " + parallelism +
                ", job: {global_batch: 64, sequence: 4096}}");
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

// With etp 4, a node of eight holds two expert ranks: 8 / 4 = 2.
TEST(ExpertsCrossNodes, ProposesOnlyADegreeThatStaysInsideANode) {
  golden::expect("rules/experts-degree.txt",
                 expert_help("{tp_size: 8, dp_size: 8, ep_size: 8, etp_size: 4, zero_stage: 1, "
                             "order: tp-cp-ep-dp-pp}") +
                     "\n");
}

}  // namespace placement_test
}  // namespace rankwright::rules
