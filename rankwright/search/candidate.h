// Candidates of a search, their families, and the statistics of how many were pruned, rejected or
// evaluated. explore.h finds them, answer.h ranks them.
#pragma once

#include <limits>
#include <map>
#include <string_view>

#include "rankwright/base/units.h"
#include "rankwright/plan/constraint_violation.h"
#include "rankwright/plan/plan.h"

namespace rankwright::search {

inline constexpr Seconds kInfiniteTime{std::numeric_limits<double>::infinity()};
inline constexpr Bytes kInfiniteBytes{std::numeric_limits<double>::infinity()};

/// A plan that was evaluated.
struct Candidate {
  plan::Plan plan{};
  Seconds time{};    // step time in closed form
  Bytes memory{};    // of the fullest rank
  bool sure = true;  // fits with margin
};

/// Degrees, ZeRO stage and recompute. Plans of one family differ only in tuning.
struct Family {
  i64 tp = 1, cp = 1, pp = 1, dp = 1, ep = 1, etp = 1;
  int zero = 0;
  plan::Recompute recompute = plan::Recompute::none;

  /// Returns the number of degrees above 1, etp not counted.
  int axes() const { return cuts() + (dp > 1); }
  /// Returns the number of those that split the model or its sequences.
  int cuts() const { return (tp > 1) + (cp > 1) + (pp > 1) + (ep > 1); }

  friend auto operator<=>(const Family&, const Family&) = default;
};
Family find_family(const plan::Plan& plan);

/// Compares by step time. With a stable sort, the first found of equally fast candidates stays
/// first.
inline bool faster(const Candidate& a, const Candidate& b) { return a.time < b.time; }

/// How many candidates of a space were rejected, pruned or evaluated. candidates = duplicates +
/// violations + rules + pruned + memory + evaluated.
struct SearchStats {
  i64 candidates = 0;
  i64 duplicates = 0;  // equivalent to a simpler candidate: equal placement or equal stages
  i64 pruned = 0;      // lower bound exceeds the fastest
  i64 memory = 0;      // do not fit
  i64 evaluated = 0;   // evaluated
  std::map<plan::ConstraintViolation::Why, i64> violations{};  // by constraint
  std::map<std::string_view, i64> rules{};  // refused by the target, by rule code

  /// Returns the number of violations and refusals.
  i64 broken() const;
  SearchStats& operator+=(const SearchStats& other);
  friend bool operator==(const SearchStats&, const SearchStats&) = default;
};

}  // namespace rankwright::search
