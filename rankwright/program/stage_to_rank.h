// Maps (stage, microbatch) to the pp rank that runs it. The map is read from the cells, because a
// hand-written schedule need not follow any rule. It stores one rank per stage, and a full table
// only if microbatches take different routes (DualPipe).
#pragma once

#include <cstdint>
#include <vector>

#include "rankwright/pipeline/action.h"

namespace rankwright::program {

/// The pp rank of every (stage, microbatch).
class StageToRank {
 public:
  static constexpr i64 kNobody = -1;

  StageToRank() = default;
  StageToRank(const pipeline::Sequences& roles, i64 stages, i64 microbatches);

  i64 of(i64 stage, i64 microbatch) const {
    const std::uint16_t rank =
        by_cell_.empty() ? by_stage_[std::size_t(stage)] : by_cell_[index(stage, microbatch)];
    return rank == kNone ? kNobody : i64(rank);
  }

  /// Returns the index of (stage, microbatch) in a table of size() entries.
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
