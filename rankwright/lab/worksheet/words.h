// Reads the short answers of a worksheet: finds words, numbers, axes and network levels in text
// that a learner typed. Tolerates case, hyphens, plurals, markup and units; judges nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/cluster/cluster.h"

namespace rankwright::lab {

/// Returns the words of an answer in lower case with one blank before, between and after them:
/// " all gather per layer ". Hyphens, slashes and markup become blanks; "8x" becomes "8 x", "tp8"
/// becomes "tp 8", and "6,592" becomes "6592".
std::string normalize_answer(std::string_view text);

/// Returns whether a normalized answer has one of the stems, which are separated by '|'. A stem is
/// the beginning of a word ("layer" matches "layers") or of the last of several words ("micro
/// batch"). A stem that ends with a blank matches whole words only.
bool mentions(std::string_view normalized, std::string_view stems);

/// Returns a normalized answer without what it denies: "inside nvlink, not across nodes" is "inside
/// nvlink". `text` is the answer as typed, because a comma ends a denial.
std::string normalize_assertion(std::string_view text);

/// Returns the whole numbers of a normalized answer, in order, "eight" included.
std::vector<i64> list_numbers(std::string_view normalized);

/// Returns the number of words of a normalized answer.
std::size_t count_words(std::string_view normalized);

/// The form of an answer before its content is judged.
enum class AnswerForm : unsigned char {
  open,  // empty, "?", "...", "todo"
  dash,  // "-": open, or none where none is right
  none,  // "none", "n/a", "not used"
  text,
};
AnswerForm classify_answer(std::string_view text);

/// A set of parallel axes.
struct AxisSet {
  bool tp = false, pp = false, cp = false, dp = false, ep = false;

  bool empty() const { return !(tp || pp || cp || dp || ep); }
  friend bool operator==(const AxisSet&, const AxisSet&) = default;
};

/// Returns the axes that a normalized answer names. FSDP and ZeRO count as DP, and sequence
/// parallelism as TP, because they split over the ranks of those axes.
AxisSet find_axes(std::string_view normalized);

/// The network levels that an answer names.
struct LevelSet {
  std::vector<bool> named{};  // by level of the cluster
  bool outer = false;         // "across nodes": some level above the innermost
  bool any = false;           // "any", "no preference"

  bool inner() const { return !named.empty() && named[0]; }
  bool beyond() const;  // names a level above the innermost, or `outer`
  bool empty() const { return !inner() && !beyond() && !any; }
};

/// Returns the levels that a normalized answer names, by their names in the cluster, by other names
/// of the link (ib, nvswitch), or by nodes ("within a node", "inter-node").
LevelSet find_levels(std::string_view normalized, const cluster::Cluster& cluster);

}  // namespace rankwright::lab
