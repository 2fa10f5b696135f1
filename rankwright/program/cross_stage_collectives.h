// CrossStageCollectives: calls of collectives whose group reaches over several pp ranks (the
// gradient norm, tied embeddings). Groups inside one pp rank need no look: all their members run
// the same role.
#pragma once

#include <optional>

#include "rankwright/program/program.h"

namespace rankwright::program {

/// Members of one group that do not call the same collectives in the same order.
struct CollectiveMismatch {
  i64 one = 0, other = 0;  // pp ranks
  i64 index = 0;           // the first call, counted from 0 over that group, in which they differ
  mesh::GroupKind group{};
  std::optional<Step> of_one{}, of_other{};  // nothing: this one makes no such call
};

struct CrossStageCollectives {
  static constexpr i64 kNone = -1;

  std::vector<std::vector<i64>> of_step{};       // by pp rank and step: the meeting, or kNone
  std::vector<std::vector<i64>> members{};       // by meeting: pp ranks
  std::optional<CollectiveMismatch> disorder{};  // members that do not call the same, if any
};

CrossStageCollectives find_cross_stage_collectives(const Program& program);

}  // namespace rankwright::program
