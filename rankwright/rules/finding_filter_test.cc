#include "rankwright/rules/finding_filter.h"

#include <gtest/gtest.h>

namespace rankwright::rules {
namespace finding_filter_test {

TEST(FindingFilter, NothingSelected_KeepsEverythingThatIsNotIgnored) {
  const FindingFilter filter{.ignore = {"RW05", "RW0311"}};
  EXPECT_TRUE(filter.keeps("RW0102"));
  EXPECT_TRUE(filter.keeps("RW0301"));
  EXPECT_FALSE(filter.keeps("RW0311"));
  EXPECT_FALSE(filter.keeps("RW0512"));
}

TEST(FindingFilter, IgnoreWinsOverSelect) {
  const FindingFilter filter{.select = {"RW05"}, .ignore = {"RW0512"}};
  EXPECT_TRUE(filter.keeps("RW0501"));
  EXPECT_FALSE(filter.keeps("RW0512"));
  EXPECT_FALSE(filter.keeps("RW0102"));
}

TEST(FindingFilter, RemovesFindings) {
  Diagnostics findings{{.code = "RW0102", .message = ""}, {.code = "RW0512", .message = ""}};
  FindingFilter{.select = {"RW01"}}.apply(findings);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].code, "RW0102");
}

TEST(CodePrefixes, ListsAndRepeatedFlagsAreRead) {
  EXPECT_EQ(parse_code_prefixes({"RW04,rw0512", "RW01"}).value(),
            (std::vector<std::string>{"RW04", "RW0512", "RW01"}));
  EXPECT_TRUE(parse_code_prefixes({})->empty());
}

TEST(CodePrefixes, UnknownOrEmptyWordsAreRefused) {
  for (const char* const list : {"RW7", "E501", "RW04,", "", ",", "RW04,,RW05"})
    EXPECT_FALSE(parse_code_prefixes({list})) << list;
}

}  // namespace finding_filter_test
}  // namespace rankwright::rules
