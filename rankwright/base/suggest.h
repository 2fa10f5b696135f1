// "Did you mean": the nearest of some known words to one that is not known.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankwright {

/// How many characters must be inserted, deleted, replaced or swapped to turn `a` into `b`.
int edit_distance(std::string_view a, std::string_view b);

/// The known word nearest to `word`, unless none is near enough to be a slip of the keyboard.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace rankwright
