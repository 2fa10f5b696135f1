#include "rankwright/program/stage_to_rank.h"

namespace rankwright::program {

StageToRank::StageToRank(const pipeline::Sequences& roles, i64 stages, i64 microbatches)
    : microbatches_(microbatches), by_stage_(std::size_t(stages), kNone) {
  bool one_way = true;
  for (std::size_t r = 0; r < roles.size() && one_way; ++r)
    for (const pipeline::Action& a : roles[r]) {
      if (a.kind != pipeline::ActionKind::forward) continue;
      std::uint16_t& rank = by_stage_[a.stage];
      one_way = one_way && (rank == kNone || rank == std::uint16_t(r));
      rank = std::uint16_t(r);
    }
  if (one_way) return;
  by_cell_.assign(size(), kNone);
  for (std::size_t r = 0; r < roles.size(); ++r)
    for (const pipeline::Action& a : roles[r])
      if (a.kind == pipeline::ActionKind::forward)
        by_cell_[index(a.stage, a.microbatch)] = std::uint16_t(r);
}

}  // namespace rankwright::program
