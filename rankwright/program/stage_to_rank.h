// Which pp rank runs a stage for a microbatch, read off the cells themselves, because a schedule
// that somebody wrote by hand need not follow any rule. One number a stage, and a table of all only
// where microbatches take different ways (DualPipe).
#pragma once

#include <cstdint>
#include <vector>

#include "rankwright/program/schedule/action.h"

namespace rankwright::program {

class StageToRank {
 public:
  static constexpr i64 kNobody = -1;

  StageToRank() = default;
  StageToRank(const Sequences& roles, i64 stages, i64 microbatches);

  i64 of(i64 stage, i64 microbatch) const {
    const std::uint16_t rank =
        by_cell_.empty() ? by_stage_[std::size_t(stage)] : by_cell_[index(stage, microbatch)];
    return rank == kNone ? kNobody : i64(rank);
  }

  /// Where (stage, microbatch) stands in any table of size() with a place for each.
  std::size_t index(i64 stage, i64 microbatch) const {
    return std::size_t(stage * microbatches_ + microbatch);
  }
  std::size_t size() const { return by_stage_.size() * std::size_t(microbatches_); }

 private:
  static constexpr std::uint16_t kNone = 0xFFFF;

  i64 microbatches_ = 0;
  std::vector<std::uint16_t> by_stage_{}, by_cell_{};
};

}  // namespace rankwright::program
