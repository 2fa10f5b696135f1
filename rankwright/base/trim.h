// Removes blanks around text.
#pragma once

#include <string_view>

namespace rankwright {

/// Returns `text` without the characters of `blanks` at both ends. The result is always a part of
/// `text`, also if it is empty, so its place in a file can be told.
constexpr std::string_view trim(std::string_view text, std::string_view blanks = " \t\r\n") {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return text.substr(0, 0);
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

}  // namespace rankwright
