#include "rankwright/base/trim.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace rankwright::trim_test {

TEST(Trim, RemovesBlanksAtBothEndsOnly) {
  EXPECT_EQ(trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(trim("a"), "a");
  EXPECT_EQ(trim("\n\na\n b\n", "\n"), "a\n b");
}

TEST(Trim, OfBlanksKeepsItsPlace) {
  const std::string_view text = "  \n";
  EXPECT_TRUE(trim(text).empty());
  EXPECT_EQ(trim(text).data(), text.data());
  EXPECT_TRUE(trim("").empty());
}

RC_GTEST_PROP(Trim, IsWhatIsLeftWithoutTheBlanksAround, (const std::string& text)) {
  std::size_t first = 0;
  std::size_t last = text.size();
  const std::string blanks = " \t\r\n";
  while (first < last && blanks.find(text[first]) != std::string::npos) ++first;
  while (last > first && blanks.find(text[last - 1]) != std::string::npos) --last;
  RC_ASSERT(trim(text) == text.substr(first, last - first));
}

}  // namespace rankwright::trim_test
