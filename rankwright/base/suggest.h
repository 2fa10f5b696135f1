// "Did you mean": finds the known word nearest to an unknown one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankwright {

/// Returns the number of characters that must be inserted, deleted, replaced or swapped with a
/// neighbor to turn `a` into `b`. Compares only the first 64 characters.
int compute_edit_distance(std::string_view a, std::string_view b);

/// Returns the known word nearest to `word`, ignoring case, or nothing if none is close enough to
/// be a typo. A typo changes at most a third of the letters.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);
/// Returns the nearest known flag; if none is close enough to be a typo, the longest that the word
/// begins with, up to a dash or an underscore: "--tp" for "--tp-size".
std::optional<std::string> nearest_flag(std::string_view word,
                                        const std::vector<std::string>& known);

}  // namespace rankwright
