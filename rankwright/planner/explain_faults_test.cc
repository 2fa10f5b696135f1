#include "rankwright/planner/explain_faults.h"

#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/refusal_lines.h"

namespace rankwright::planner {
namespace explain_faults_test {

Outcome<FaultsAnswer> explain(const FaultOptions& faults) {
  return explain_faults(
      {.plan = {.plan = {"plan.yaml",
                         "model: llama-3.1-8b\ncluster: dgx-h100 x 2\n"
                         "job: {global_batch: 32, sequence: 4096}\n"
                         "parallelism: {tp_size: 4, pp_size: 2, dp_size: 2, zero_stage: 1}\n"}},
       .faults = faults});
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
  std::string text;
  const auto add = [&](const char* options, const FaultOptions& faults) {
    const Outcome<FaultsAnswer> answer = explain(faults);
    ASSERT_FALSE(answer.has_value()) << options;
    EXPECT_EQ(answer.error().kind, Refusal::Kind::usage) << options;
    text += format_refusal(options, answer);
  };
  add("--slow 16:2x", {.slow = {"16:2x"}});  // the plan has 4 x 2 x 2 ranks
  add("--slow 3", {.slow = {"3"}});
  add("--slow 3:2x --slow 3:3x", {.slow = {"3:2x", "3:3x"}});
  add("--slow-link nvlnk:0.5x", {.slow_link = {"nvlnk:0.5x"}});
  add("--fail -1", {.fail = -1});
  add("--mtbf '3 h'", {.mtbf = "3 h"});
  add("--fail 0 --failures bloom --mtbf '3 h'", {.fail = 0, .failures = "bloom", .mtbf = "3 h"});
  golden::expect("planner/faults-refusals.txt", text);
}

}  // namespace explain_faults_test
}  // namespace rankwright::planner
