// Characters of text from outside, which says that it is UTF-8 and may be anything.
#pragma once

#include <cstddef>
#include <string_view>

namespace rankwright {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;
};

/// The character that `text` begins with. 0 bytes where it begins with none: it is empty, cut
/// short, spelled longer than need be, half of a surrogate pair, or beyond U+10FFFF.
Character first_character(std::string_view text);

}  // namespace rankwright
