// A SplitTask in integers, limits, and whether a split stays within them. For split.cc and its two
// searches only.
#pragma once

#include <limits>
#include <vector>

#include "rankwright/base/integer.h"

namespace rankwright::split {

inline constexpr i64 kNoLimit = std::numeric_limits<i64>::max();

/// A SplitTask in integers.
struct SplitProblem {
  /// Consecutive equal items; the embedding comes first and the head last.
  struct Run {
    i64 count = 0;
    i64 weight = 0;
    std::vector<i64> memory{};  // by team; empty if memory is not limited
  };
  std::vector<Run> runs{};
  std::vector<i64> team_of_stage{};
  std::vector<i64> ranks{};  // by team
  i64 parts = 1;  // a weight is this many parts, so that each rank's share is an integer; loads are
                  // in parts
  bool limited = false;  // memory is limited

  i64 stages() const { return i64(team_of_stage.size()); }
  i64 teams() const { return i64(ranks.size()); }
  i64 items() const;
  i64 weight() const;
};

/// The maxima that a split may reach, or has reached.
struct SplitLimits {
  i64 load = kNoLimit;  // per pp rank: weight x parts
  i64 memory = kNoLimit;
  i64 stage = kNoLimit;  // weight per stage

  /// Returns the maximum weight of all stages of a team together.
  i64 of_team(const SplitProblem& problem, i64 team) const;
};

/// Stage ends: by stage, the number of items before its end. The last is the number of all items.
using Cuts = std::vector<i64>;

/// Returns the maxima that a split reaches.
SplitLimits reached(const SplitProblem& problem, const Cuts& cuts);

/// Returns the stage ends that divide the weight equally, each rounded down to a whole item.
Cuts compute_ideal_cuts(const SplitProblem& problem);

/// The answer to whether a split within given limits exists.
struct Probe {
  enum class Verdict : unsigned char { yes, no, unknown };
  Verdict verdict = Verdict::no;
  Cuts cuts{};  // if the verdict is yes
};

/// The step budget of a search. Once exhausted, take() keeps returning false.
class Steps {
 public:
  explicit Steps(i64 left) : left_(left) {}
  bool take(i64 count) {
    left_ -= count < left_ ? count : left_ + 1;
    return left_ >= 0;
  }
  bool out() const { return left_ < 0; }
  i64 left() const { return left_; }

 private:
  i64 left_;
};

}  // namespace rankwright::split
