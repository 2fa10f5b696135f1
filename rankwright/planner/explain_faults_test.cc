#include "rankwright/planner/explain_faults.h"

#include <gmock/gmock.h>

namespace rankwright::planner {
namespace explain_faults_test {

using ::testing::HasSubstr;

Outcome<FaultsAnswer> explain(const FaultOptions& faults) {
  return explain_faults(
      {.plan = {.plan = {"plan.yaml",
                         "model: llama-3.1-8b\ncluster: dgx-h100 x 2\n"
                         "job: {global_batch: 32, sequence: 4096}\n"
                         "parallelism: {tp_size: 4, pp_size: 2, dp_size: 2, zero_stage: 1}\n"}},
       .faults = faults});
}

std::string refusal_of(const FaultOptions& faults) {
  const Outcome<FaultsAnswer> answer = explain(faults);
  if (answer) return "answered";
  EXPECT_EQ(answer.error().kind, Refusal::Kind::usage);
  return answer.error().message;
}

TEST(ExplainFaults, SlowRank_MakesTheStepLonger) {
  const Outcome<FaultsAnswer> answer = explain({.slow = {"3:1.3x"}});
  ASSERT_TRUE(answer.has_value());
  ASSERT_TRUE(answer->faults.slow.has_value());
  EXPECT_GT(answer->faults.slow->after, answer->faults.slow->before);
  EXPECT_FALSE(answer->faults.links.has_value());
  EXPECT_FALSE(answer->faults.dead.has_value());
}

TEST(ExplainFaults, Factors_HaveThreeSpellings) {
  const Seconds times = explain({.slow = {"3:1.3x"}})->faults.slow->after;
  EXPECT_EQ(explain({.slow = {"3:1.3"}})->faults.slow->after, times);
  EXPECT_EQ(explain({.slow = {"3:130%"}})->faults.slow->after, times);
}

TEST(ExplainFaults, SlowLink_ChangesTheClusterForAllEstimates) {
  const Outcome<FaultsAnswer> answer = explain({.slow_link = {"infiniband:0.5x"}, .fail = 3});
  ASSERT_TRUE(answer.has_value());
  const cluster::Cluster& before = answer->plan.config().cluster;
  const cluster::Cluster& after = answer->slowed.cluster;
  EXPECT_DOUBLE_EQ(after.levels.back().bandwidth / before.levels.back().bandwidth, 0.5);
  EXPECT_EQ(answer->faults.dead, 3);
}

TEST(ExplainFaults, InvalidOptions_AreRefused) {
  EXPECT_EQ(refusal_of({.slow = {"16:2x"}}), "there is no rank 16: the plan has ranks 0 to 15");
  EXPECT_EQ(refusal_of({.slow = {"3"}}), "--slow '3' is not a rank and a factor");
  EXPECT_EQ(refusal_of({.slow = {"3:2x", "3:3x"}}), "--slow 3 is given twice");
  EXPECT_EQ(refusal_of({.slow_link = {"nvlnk:0.5x"}}), "the cluster has no level 'nvlnk'");
  EXPECT_EQ(refusal_of({.fail = -1}), "there is no rank -1: the plan has ranks 0 to 15");
  EXPECT_THAT(refusal_of({.mtbf = "3 h"}), HasSubstr("are about a rank that dies"));
  EXPECT_EQ(refusal_of({.fail = 0, .failures = "bloom", .mtbf = "3 h"}),
            "--mtbf and --failures both say how often ranks fail");
}

}  // namespace explain_faults_test
}  // namespace rankwright::planner
