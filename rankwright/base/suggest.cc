#include "rankwright/base/suggest.h"

#include <algorithm>
#include <cstdlib>

#include "rankwright/base/format.h"

namespace rankwright {
namespace {

constexpr std::size_t kLongestWord = 64;  // words come from files, so bound the work

std::string shorten(std::string_view word) { return lower(word.substr(0, kLongestWord)); }

}  // namespace

int compute_edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kLongestWord);
  b = b.substr(0, kLongestWord);
  // Optimal string alignment distance; three rows of the table are enough.
  std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = int(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = int(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  const std::string wanted = shorten(word);
  std::optional<std::string> best;
  int min = std::max(1, int(wanted.size()) / 3) + 1;
  for (const std::string& candidate : known) {
    // Every difference in length is an insertion or a deletion.
    const int longer = int(std::min(candidate.size(), kLongestWord)) - int(wanted.size());
    if (std::abs(longer) >= min) continue;
    const int distance = compute_edit_distance(wanted, shorten(candidate));
    // The words must share at least one letter: "x" is not a typo of "y", and neither is an empty
    // word.
    const bool common = distance < int(std::max(wanted.size(), candidate.size()));
    if (common && distance < min) {
      min = distance;
      best = candidate;
    }
  }
  return best;
}

std::optional<std::string> nearest_flag(std::string_view word,
                                        const std::vector<std::string>& known) {
  if (std::optional<std::string> near = nearest(word, known)) return near;
  const std::string wanted = shorten(word);
  std::optional<std::string> longest;
  for (const std::string& candidate : known) {
    const std::string stem = lower(candidate);
    const bool begins = wanted.size() > stem.size() && wanted.starts_with(stem) &&
                        (wanted[stem.size()] == '-' || wanted[stem.size()] == '_');
    if (begins && !stem.empty() && (!longest || candidate.size() > longest->size()))
      longest = candidate;
  }
  return longest;
}

}  // namespace rankwright
