// Several violations at once: one fix mends all of them, and every finding proposes it.
#include <gtest/gtest.h>

#include "rankwright/import/plan/plan_file.h"
#include "rankwright/rules/repair.h"
#include "rankwright/rules/rule.h"

namespace rankwright::rules {
namespace joint_repair_test {

struct Degrees {
  i64 world, tp, pp, dp, batch;
};

std::string write(const Degrees& d) {
  return "model: llama-3.1-70b\nworld_size: " + std::to_string(d.world) +
         "\nparallelism:\n  order: tp-dp-pp\n  tp_size: " + std::to_string(d.tp) +
         "\n  pp_size: " + std::to_string(d.pp) + "\n  dp_size: " + std::to_string(d.dp) +
         "\njob:\n  global_batch: " + std::to_string(d.batch) + "\n  sequence: 4096\n";
}

plan::TrainingConfig read(const std::string& text) {
  const importer::PlanFile file = importer::read_plan(text, "plan.yaml", importer::refuse_file);
  EXPECT_TRUE(file.findings.empty());
  return resolve(file.draft);
}

/// Returns the text with the value of each edited key replaced.
std::string apply_edits(std::string text, const std::vector<Edit>& edits) {
  for (const Edit& edit : edits) {
    const std::string key = edit.key.substr(edit.key.rfind('.') + 1) + ": ";
    const std::size_t at = text.find(key);
    EXPECT_NE(at, std::string::npos) << edit.key;
    const std::size_t begin = at + key.size();
    text.replace(begin, text.find('\n', begin) - begin, edit.value);
  }
  return text;
}

// tp 7 divides neither 64 heads nor 4,096 tokens, 7 x 4 x 3 is not 56, and dp 3 does not divide a
// batch of 100. dp_size: 2 alone, the nearest to 56, would leave tp 7.
TEST(JointRepair, EveryFindingProposesOnePlanWithoutViolations) {
  const std::string text = write({56, 7, 4, 3, 100});
  const Diagnostics found = lint(read(text), Target::any);
  std::vector<Edit> first;
  int errors = 0;
  for (const Diagnostic& one : found) {
    if (one.severity != Severity::error) continue;
    if (++errors == 1) first = one.fix;
    EXPECT_EQ(one.fix, first) << one.code;
  }
  EXPECT_EQ(errors, 5);
  ASSERT_FALSE(first.empty());
  EXPECT_TRUE(find_violations(read(apply_edits(text, first))).empty());
}

// Whatever the degrees, a proposed fix passes the checks.
TEST(JointRepair, FixesPassTheChecks) {
  int several = 0;
  for (const i64 world : {8, 24, 56, 64, 96})
    for (const i64 tp : {1, 3, 7, 8, 16})
      for (const i64 pp : {1, 4, 5})
        for (const i64 dp : {1, 2, 3}) {
          const std::string text = write({world, tp, pp, dp, 64});
          const plan::TrainingConfig config = read(text);
          if (find_violations(config).size() < 2) continue;
          const std::vector<Edit> fix = find_joint_repair(config);
          ASSERT_FALSE(fix.empty()) << text;
          EXPECT_TRUE(find_violations(read(apply_edits(text, fix))).empty()) << text;
          ++several;
        }
  EXPECT_GT(several, 50);
}

TEST(JointRepair, PlanThatIsNotMendedByDegrees_KeepsTheFixesOfEachFinding) {
  plan::TrainingConfig config = read(write({8, 8, 1, 1, 64}));
  config.plan.ep = 3;  // a dense model has no experts
  config.plan.bucket_size = 1;
  EXPECT_TRUE(find_joint_repair(config).empty());
}

}  // namespace joint_repair_test
}  // namespace rankwright::rules
