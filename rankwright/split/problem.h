// For split.cc and its two searches only: a SplitTask in whole numbers, limits, and whether a split
// stays within them.
#pragma once

#include <limits>
#include <vector>

#include "rankwright/base/integer.h"

namespace rankwright::split {

inline constexpr i64 kNoLimit = std::numeric_limits<i64>::max();

struct SplitProblem {
  /// Equal items in a row, the embedding first and the head last.
  struct Run {
    i64 count = 0;
    i64 weight = 0;
    std::vector<i64> memory{};  // by team; empty where memory is no matter
  };
  std::vector<Run> runs{};
  std::vector<i64> team_of_stage{};
  std::vector<i64> ranks{};  // by team
  i64 parts = 1;         // of a weight, so that a rank's share of it is whole: loads are in parts
  bool limited = false;  // memory matters

  i64 stages() const { return i64(team_of_stage.size()); }
  i64 teams() const { return i64(ranks.size()); }
  i64 items() const;
  i64 weight() const;
};

/// What a split may reach, or has reached, at most.
struct SplitLimits {
  i64 load = kNoLimit;  // of a pp rank: weight x parts
  i64 memory = kNoLimit;
  i64 stage = kNoLimit;  // weight

  /// Weight that the stages of a team may have together.
  i64 of_team(const SplitProblem& problem, i64 team) const;
};

/// Where stages end: items before the end, by stage. The last is all items.
using Cuts = std::vector<i64>;

SplitLimits reached(const SplitProblem& problem, const Cuts& cuts);

/// Where stage ends would stand if items could be cut: each at its share of the weight or just
/// below.
Cuts ideal_cuts(const SplitProblem& problem);

struct Probe {
  enum class Verdict : unsigned char { yes, no, unknown };
  Verdict verdict = Verdict::no;
  Cuts cuts{};  // with yes
};

/// Steps that a search may still take. It fails once, and from then on.
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
