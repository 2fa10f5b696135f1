#include "rankwright/base/utf8.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace rankwright {
namespace utf8_test {

void expect_character(std::string_view text, char32_t code, std::size_t bytes) {
  const Character c = decode_character(text);
  EXPECT_EQ(c.code, code) << text;
  EXPECT_EQ(c.bytes, bytes) << text;
}

TEST(Utf8, ReadsOneToFourBytes) {
  expect_character("ab", 'a', 1);
  expect_character("\xC3\xA9s", 0xE9, 2);
  expect_character("\xE2\x82\xAC", 0x20AC, 3);
  expect_character("\xF0\x9F\x98\x80", 0x1F600, 4);
  expect_character("\xF4\x8F\xBF\xBF", 0x10FFFF, 4);
}

TEST(Utf8, InvalidSequences_HaveNoBytes) {
  expect_character("", 0, 0);
  expect_character("\x80", 0, 0);              // a continuation byte
  expect_character("\xC3", 0, 0);              // truncated
  expect_character("\xC3s", 0, 0);             // not followed by a continuation byte
  expect_character("\xC1\x81", 0, 0);          // overlong: 'A' in two bytes
  expect_character("\xE0\x82\xA9", 0, 0);      // overlong: U+00A9 in three bytes
  expect_character("\xED\xA0\x80", 0, 0);      // U+D800
  expect_character("\xF4\x90\x80\x80", 0, 0);  // U+110000
  expect_character("\xFF", 0, 0);
}

/// Encodes a character in UTF-8.
std::string encode_utf8(char32_t c) {
  const auto low = [&](int shift) { return char(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) return {char(c)};
  if (c < 0x800) return {char(0xC0 | c >> 6), low(0)};
  if (c < 0x10000) return {char(0xE0 | c >> 12), low(6), low(0)};
  return {char(0xF0 | c >> 18), low(12), low(6), low(0)};
}

RC_GTEST_PROP(Utf8, RoundTrips, ()) {
  const char32_t code = char32_t(*rc::gen::inRange(0, 0x110000));
  RC_PRE(code < 0xD800 || code > 0xDFFF);
  const std::string text = encode_utf8(code);
  const Character c = decode_character(text + "x");
  RC_ASSERT(c.code == code && c.bytes == text.size());
}

}  // namespace utf8_test
}  // namespace rankwright
