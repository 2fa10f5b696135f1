// CrossStageCollectives: the collective calls whose group spans several pp ranks (gradient norm,
// tied embeddings). Groups inside one pp rank need no check, because all their members run the same
// role.
#pragma once

#include <optional>

#include "rankwright/program/program.h"

namespace rankwright::program {

/// Two members of one group that do not issue the same collectives in the same order.
struct CollectiveMismatch {
  i64 one = 0, other = 0;  // pp ranks
  i64 index = 0;           // the first call on that group, from 0, in which they differ
  mesh::GroupKind group{};
  std::optional<Step> of_one{}, of_other{};  // the two calls; nullopt if a rank has no such call
};

/// All cross-stage collectives of a program, numbered from 0.
struct CrossStageCollectives {
  static constexpr i64 kNone = -1;

  std::vector<std::vector<i64>> of_step{};       // by pp rank and step: the collective, or kNone
  std::vector<std::vector<i64>> members{};       // by collective: pp ranks
  std::optional<CollectiveMismatch> mismatch{};  // the first mismatch, if any
};

/// Finds the cross-stage collectives of a program and matches the calls of their members.
CrossStageCollectives find_cross_stage_collectives(const Program& program);

}  // namespace rankwright::program
