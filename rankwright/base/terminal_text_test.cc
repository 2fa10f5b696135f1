#include "rankwright/base/terminal_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/base/utf8.h"

namespace rankwright {
namespace terminal_text_test {

TEST(CleanText, PlainText_IsUnchanged) {
  EXPECT_EQ(clean_text("a\tb\nGrüße · 模型 🦙\n"), "a\tb\nGrüße · 模型 🦙\n");
  EXPECT_EQ(clean_text(""), "");
}

TEST(CleanText, UnsafeCharacters_AreEscapedAsInJson) {
  EXPECT_EQ(clean_text("a\033]0;title\a"), "a\\u001b]0;title\\u0007");
  EXPECT_EQ(clean_text("\xC2\x9B"
                       "31m"),
            "\\u009b31m");  // CSI in one character
  EXPECT_EQ(clean_text("gnp\xE2\x80\xAE"
                       "txt"),
            "gnp\\u202etxt");  // right-to-left override
  EXPECT_EQ(clean_text("a\xE2\x80\x8B"
                       "b"),
            "a\\u200bb");                                       // zero-width space
  EXPECT_EQ(clean_text("\xF3\xA0\x81\x81"), "\\udb40\\udc41");  // a tag: U+E0041
  EXPECT_EQ(clean_text(std::string_view("\0\x7f\r", 3)), "\\u0000\\u007f\\u000d");
}

TEST(CleanText, BrokenUtf8_IsReplacedByteByByte) {
  EXPECT_EQ(clean_text("a\xFF\xC3"), "a\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(CleanText, OwnEscapes_AreKeptIfAllowed) {
  const std::string red = "\033[1;31merror\033[0m";
  EXPECT_EQ(clean_text(red, KeptEscapes::color), red);
  EXPECT_EQ(clean_text(red), "\\u001b[1;31merror\\u001b[0m");
  EXPECT_EQ(clean_text("\r\033[Khalf", KeptEscapes::color_and_progress), "\r\033[Khalf");
  EXPECT_EQ(clean_text("\r\033[Khalf", KeptEscapes::color), "\\u000d\\u001b[Khalf");
  EXPECT_EQ(clean_text("\033[2J\033[", KeptEscapes::color), "\\u001b[2J\\u001b[");
}

TEST(CleanName, LineBreaks_AreEscapedToo) {
  EXPECT_EQ(clean_name("plan\nerror: forged\t"), "plan\\u000aerror: forged\\u0009");
}

RC_GTEST_PROP(CleanText, AnyBytes_GiveSafeUtf8AndCleaningTwiceChangesNothing,
              (const std::string& bytes)) {
  const std::string once = clean_text(bytes);
  RC_ASSERT(clean_text(once) == once);
  for (std::string_view rest = once; !rest.empty();) {
    const Character c = decode_character(rest);
    RC_ASSERT(c.bytes > 0);
    RC_ASSERT(!is_unsafe_to_show(c.code) || c.code == '\n' || c.code == '\t');
    rest.remove_prefix(c.bytes);
  }
}

}  // namespace terminal_text_test
}  // namespace rankwright
