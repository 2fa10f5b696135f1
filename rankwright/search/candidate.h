// What a search makes of candidates: their price, and how many of them went which way. Small data;
// how they are found is explore.h, how they are ranked answer.h.
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

struct Candidate {
  plan::Plan plan{};
  Seconds time{};    // of a step, in closed form
  Bytes memory{};    // of its fullest rank
  bool sure = true;  // it fits with margin
};

/// What a person would call the same plan, tuned: degrees, ZeRO stage and recompute.
struct Family {
  i64 tp = 1, cp = 1, pp = 1, dp = 1, ep = 1, etp = 1;
  int zero = 0;
  plan::Recompute recompute = plan::Recompute::none;

  /// Degrees above 1, and those of them that cut the model or its sequences.
  int axes() const { return cuts() + (dp > 1); }
  int cuts() const { return (tp > 1) + (cp > 1) + (pp > 1) + (ep > 1); }

  friend auto operator<=>(const Family&, const Family&) = default;
};
Family find_family(const plan::Plan& plan);

/// The better known of two: the faster, and of two that are equally fast the one found first.
inline bool faster(const Candidate& a, const Candidate& b) { return a.time < b.time; }

/// Where the candidates of a space went. They add up: candidates = alike + violations + rules
/// + bounded + memory + evaluated.
struct SearchStats {
  i64 candidates = 0;
  i64 duplicates = 0;  // cost what a plainer one costs: its ranks lie, or its stages are, as there
  i64 pruned = 0;      // cannot be as fast as the best, whatever their inner choices
  i64 memory = 0;      // do not fit
  i64 evaluated = 0;
  std::map<plan::ConstraintViolation::Why, i64> violations{};  // arithmetic forbids
  std::map<std::string_view, i64> rules{};                     // the target refuses: by code

  i64 broken() const;
  SearchStats& operator+=(const SearchStats& other);
  friend bool operator==(const SearchStats&, const SearchStats&) = default;
};

}  // namespace rankwright::search
