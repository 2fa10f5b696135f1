// Which pp rank runs a stage for a microbatch, read off the cells themselves: a table, because a
// schedule that somebody wrote by hand need not follow any rule.
#pragma once

#include <cstdint>
#include <vector>

#include "rankwright/program/action.h"

namespace rankwright {

class Owners {
 public:
  static constexpr i64 kNobody = -1;

  Owners() = default;
  Owners(const Sequences& roles, i64 stages, i64 microbatches)
      : microbatches_(microbatches), ranks_(std::size_t(stages * microbatches), kNone) {
    for (std::size_t r = 0; r < roles.size(); ++r)
      for (const Action& a : roles[r])
        if (a.kind() == ActionKind::forward)
          ranks_[index(a.stage, a.microbatch)] = std::uint16_t(r);
  }

  i64 of(i64 stage, i64 microbatch) const {
    const std::uint16_t rank = ranks_[index(stage, microbatch)];
    return rank == kNone ? kNobody : i64(rank);
  }

  /// Where (stage, microbatch) stands in any table with a place for each.
  std::size_t index(i64 stage, i64 microbatch) const {
    return std::size_t(stage * microbatches_ + microbatch);
  }
  std::size_t size() const { return ranks_.size(); }

 private:
  static constexpr std::uint16_t kNone = 0xFFFF;

  i64 microbatches_ = 0;
  std::vector<std::uint16_t> ranks_{};
};

}  // namespace rankwright
