#include "rankwright/base/shell_word.h"

#include <gtest/gtest.h>

namespace rankwright {
namespace shell_word_test {

TEST(ShellWord, PlainWord_HasNoQuotes) {
  EXPECT_EQ(shell_word("plan.yaml"), "plan.yaml");
  EXPECT_EQ(shell_word("a/b-c_d=1:2@3%,+"), "a/b-c_d=1:2@3%,+");
}

TEST(ShellWord, OtherWords_AreQuoted) {
  EXPECT_EQ(shell_word(""), "\"\"");
  EXPECT_EQ(shell_word("dgx-h100 x 8"), "\"dgx-h100 x 8\"");
  EXPECT_EQ(shell_word("a;b"), "\"a;b\"");
  EXPECT_EQ(shell_word("$(reboot)"), "'$(reboot)'");
  EXPECT_EQ(shell_word("it's $5"), "'it'\\''s $5'");
  EXPECT_EQ(shell_word("~"), "\"~\"");
  EXPECT_EQ(shell_word("!x"), "'!x'");
}

TEST(ShellWord, InvisibleCharacters_AreWrittenAsEscapedBytes) {
  EXPECT_EQ(shell_word("a\033[2J'"), "$'a\\x1b[2J\\''");
  EXPECT_EQ(shell_word("a\nb"), "$'a\\x0ab'");
  EXPECT_EQ(shell_word("a\xE2\x80\xAE"), "$'a\\xe2\\x80\\xae'");
  EXPECT_EQ(shell_word("\xFF"), "$'\\xff'");
}

TEST(ShellPath, NameLikeAFlag_GetsAFolderPrefix) {
  EXPECT_EQ(quote_shell_path("-rf"), "./-rf");
  EXPECT_EQ(quote_shell_path("-"), "-");
  EXPECT_EQ(quote_shell_path("a b"), "\"a b\"");
}

}  // namespace shell_word_test
}  // namespace rankwright
