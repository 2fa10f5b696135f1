// Tests over the whole rule table: every row has a well-formed page, an example that breaks it, and
// fixes that remove the finding.
#include "rankwright/rules/rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "tests/support/typed_plans.h"

namespace rankwright::rules {
namespace rule_test {

using typed_plans::codes;
using typed_plans::diagnose;
using typed_plans::show;
using typed_plans::typed;

Diagnostics found_in_example(const Rule& rule) {
  return diagnose(std::string(rule.page.example), rule.target);
}

TEST(EveryRule, HasACodeOfATopic) {
  ASSERT_FALSE(rules().empty());
  const std::regex code("RW0[1-6][0-9][0-9]");
  for (const Rule* rule : rules())
    EXPECT_TRUE(std::regex_match(std::string(rule->page.code), code)) << rule->page.code;
}

TEST(EveryRule, IsExplainedInSentences) {
  ASSERT_FALSE(rules().empty());
  for (const Rule* rule : rules()) {
    const Page& page = rule->page;
    EXPECT_FALSE(page.title.empty()) << page.code;
    EXPECT_FALSE(page.title.ends_with('.')) << page.code;
    EXPECT_TRUE(page.why.ends_with('.')) << page.code;
    EXPECT_TRUE(page.remedy.ends_with('.')) << page.code;
    EXPECT_TRUE(rule->target == Target::any || !page.source.empty()) << page.code;
  }
}

TEST(EveryRule, IsFoundByItsCode) {
  ASSERT_FALSE(rules().empty());
  for (const Rule* rule : rules()) EXPECT_EQ(find_page(rule->page.code), &rule->page);
}

TEST(EveryRule, HasAnExampleThatCanBeRead) {
  ASSERT_FALSE(rules().empty());
  for (const Rule* rule : rules()) {
    const std::string example(rule->page.example);
    const importer::PlanFile file =
        importer::read_plan(example, "example.yaml", importer::read_file);
    EXPECT_FALSE(has_errors(file.findings)) << rule->page.code << "\n" << show(file.findings);
  }
}

TEST(EveryRule, IsBrokenByItsExample) {
  ASSERT_FALSE(rules().empty());
  for (const Rule* rule : rules()) {
    const Page& page = rule->page;
    const Diagnostics all = found_in_example(*rule);
    const auto mine = std::find_if(all.begin(), all.end(),
                                   [&](const Diagnostic& d) { return d.code == page.code; });
    ASSERT_NE(mine, all.end()) << page.code << "\n" << show(all);
    EXPECT_EQ(mine->severity, page.severity);
    EXPECT_EQ(mine->message, page.title);
    EXPECT_FALSE(mine->detail.empty()) << page.code;
    EXPECT_FALSE(mine->key.empty()) << page.code;
    EXPECT_TRUE(page.severity != Severity::error || !help(*mine).empty()) << page.code;
  }
}

TEST(EveryRule, IsTheOnlyErrorOfItsExample) {
  ASSERT_FALSE(rules().empty());
  // Examples demonstrate one rule each; whether they fit in memory does not matter.
  for (const Rule* rule : rules())
    for (const Diagnostic& d : found_in_example(*rule)) {
      const bool other = d.severity == Severity::error && d.code != rule->page.code;
      EXPECT_TRUE(!other || d.code.starts_with("RW02"))
          << "in the example of " << rule->page.code << ": " << d.code << ": " << d.detail;
    }
}

TEST(EveryRule, ProposedFix_RemovesTheFinding) {
  std::size_t fixes = 0;
  for (const Rule* rule : rules()) {
    const std::string example(rule->page.example);
    const Diagnostics before = found_in_example(*rule);
    for (const Diagnostic& d : before) {
      if (d.fix.empty()) continue;
      ++fixes;
      const std::string fixed = typed(example, d.fix);
      EXPECT_EQ(typed_plans::unhealed(before, diagnose(fixed, rule->target), d.code), "")
          << d.code << " in the example of " << rule->page.code << " with:\n"
          << fixed;
    }
  }
  EXPECT_GT(fixes, rules().size() / 2);
}

TEST(EveryRule, IsSilentWithoutItsTarget) {
  ASSERT_FALSE(rules().empty());
  for (const Rule* rule : rules()) {
    const Diagnostics general = diagnose(std::string(rule->page.example), Target::any);
    EXPECT_EQ(codes(general).contains(std::string(rule->page.code)), rule->target == Target::any)
        << rule->page.code;
  }
}

TEST(Rules, HaveCodesThatAscendWithinATopicAndAreUnique) {
  ASSERT_FALSE(rules().empty());
  std::set<std::string_view> seen;
  const Rule* last = nullptr;
  for (const Rule* rule : rules()) {
    EXPECT_TRUE(seen.insert(rule->page.code).second) << rule->page.code;
    const bool same_topic = last && last->target == rule->target &&
                            last->page.code.substr(0, 4) == rule->page.code.substr(0, 4);
    EXPECT_TRUE(!same_topic || last->page.code < rule->page.code) << rule->page.code;
    last = rule;
  }
}

TEST(Rules, OfTargetsHaveCodesInRW05) {
  ASSERT_FALSE(rules().empty());
  for (const Rule* rule : rules())
    EXPECT_EQ(rule->target != Target::any, rule->page.code.starts_with("RW05")) << rule->page.code;
}

TEST(Targets, AreFoundByTheirNames) {
  ASSERT_FALSE(targets().empty());
  for (const TargetRow& row : targets()) EXPECT_EQ(find_target(row.name), &row);
  EXPECT_EQ(find_target("any"), nullptr);
  EXPECT_EQ(find_target(""), nullptr);
}

TEST(Lint, SoundPlan_HasNoErrors) {
  ASSERT_FALSE(targets().empty());
  for (const TargetRow& row : targets())
    EXPECT_FALSE(
        has_errors(diagnose("world_size: 8\n"
                            "model: tinyllama-1.1b\n"
                            "parallelism: {dp_size: 8, zero_stage: 0}\n",
                            row.target)))
        << row.name;
}

}  // namespace rule_test
}  // namespace rankwright::rules
