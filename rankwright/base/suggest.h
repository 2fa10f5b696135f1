// "Did you mean": the nearest of some known words to one that is not known.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankwright {

/// How many characters must be inserted, deleted, replaced or swapped with their neighbour to turn
/// `a` into `b`; of long words only the beginning counts.
int edit_distance(std::string_view a, std::string_view b);

/// The known word nearest to `word` in either case, unless none is near enough to be a slip of the
/// keyboard: at most a third of its letters.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace rankwright
