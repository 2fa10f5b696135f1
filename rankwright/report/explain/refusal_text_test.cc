#include "rankwright/report/explain/refusal_text.h"

#include <gtest/gtest.h>

#include "tests/support/golden.h"

namespace rankwright::report {
namespace refusal_text_test {

Diagnostic make_finding(std::string file, int line) {
  return {.code = "RW0903",
          .message = "not a whole number",
          .detail = "'x' is not a whole number",
          .where = {.file = std::move(file), .line = line, .column = 1}};
}

TEST(RefusalText, UsageFault_NamesTheVerbAndWhatToType) {
  const planner::Refusal refusal{.message = "--tp 8 contradicts --no-tp", .hint = "one of the two"};
  golden::expect("report/refusal-usage.txt", render_refusal_text("plan", refusal));
  EXPECT_EQ(exit_code(refusal), 64);
  EXPECT_TRUE(collect_findings(refusal).empty());
}

TEST(RefusalText, TwoFiles_AreShownOneAfterAnother) {
  planner::Refusal refusal{.kind = planner::Refusal::Kind::refused,
                           .findings = {make_finding("a.yaml", 1)},
                           .file = {"a.yaml", "x\n"}};
  refusal.also.push_back({.kind = planner::Refusal::Kind::unreadable,
                          .findings = {make_finding("b.yaml", 1)},
                          .file = {"b.yaml", "x\n"}});
  golden::expect("report/refusal-two-files.txt", render_refusal_text("compare", refusal));
  EXPECT_EQ(exit_code(refusal), 1);  // unreadable before refused
  ASSERT_EQ(collect_findings(refusal).size(), 2u);
  EXPECT_EQ(collect_findings(refusal)[1].where.file, "b.yaml");
}

TEST(FindingsIn, SeveralFiles_EachFindingHasItsOwnLine) {
  // In the order of the findings, not of the files, and without a count.
  golden::expect("report/findings-two-files.txt",
                 render_findings_in({{"a.txt", "first\n"}, {"b.txt", "second\n"}},
                                    {make_finding("b.txt", 1), make_finding("a.txt", 1)}));
}

}  // namespace refusal_text_test
}  // namespace rankwright::report
