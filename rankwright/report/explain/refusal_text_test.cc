#include "rankwright/report/explain/refusal_text.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(render_refusal_text("plan", refusal),
            "rankwright plan: --tp 8 contradicts --no-tp\n  help: one of the two\n");
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
  const std::string text = render_refusal_text("compare", refusal);
  EXPECT_LT(text.find("--> a.yaml:1:1"), text.find("--> b.yaml:1:1"));
  EXPECT_EQ(exit_code(refusal), 1);  // unreadable before refused
  ASSERT_EQ(collect_findings(refusal).size(), 2u);
  EXPECT_EQ(collect_findings(refusal)[1].where.file, "b.yaml");
}

TEST(FindingsIn, SeveralFiles_EachFindingHasItsOwnLine) {
  const std::string text = render_findings_in({{"a.txt", "first\n"}, {"b.txt", "second\n"}},
                                              {make_finding("b.txt", 1), make_finding("a.txt", 1)});
  EXPECT_LT(text.find("second"), text.find("first"));
  EXPECT_EQ(text.find("2 errors"), text.npos);
}

}  // namespace refusal_text_test
}  // namespace rankwright::report
