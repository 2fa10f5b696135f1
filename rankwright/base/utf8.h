// Decodes characters of untrusted text that should be UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace rankwright {

/// A decoded character and the length of its encoding.
struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;
};

/// Returns the first character of `text`. `bytes` is 0 if there is no valid one: the text is empty,
/// or the sequence is truncated, overlong, a surrogate, or beyond U+10FFFF.
Character decode_character(std::string_view text);

}  // namespace rankwright
