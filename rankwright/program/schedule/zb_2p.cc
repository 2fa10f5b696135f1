// ZB-2P (Qi et al. 2024): with room for 2 pp microbatches no rank ever waits once it has begun,
// when F = I = W. Made by running all ranks in unit time: each takes an input gradient if one has
// come, else a forward if there is room, else a weight gradient.
#include "rankwright/program/schedule/schedule.h"

namespace rankwright::program {
namespace {

/// How far a rank is; everything runs in the order of microbatches.
struct Done {
  i64 forward = 0, input = 0, weight = 0;
};

}  // namespace

Sequences zb_2p(const plan::PipelineShape& shape) {
  const std::size_t pp = std::size_t(shape.pp);
  const i64 room = 2 * shape.pp;
  Sequences ranks(pp);
  for (Sequence& line : ranks) line.reserve(std::size_t(3 * shape.microbatches));
  std::vector<Done> now(pp), before(pp);
  for (i64 left = 3 * shape.pp * shape.microbatches; left > 0;) {
    before = now;  // what has come is what was done a unit of time ago
    for (std::size_t r = 0; r < pp; ++r) {
      Done& rank = now[r];
      const i64 gradients = r + 1 == pp ? rank.forward : before[r + 1].input;
      const i64 inputs = r == 0 ? shape.microbatches : before[r - 1].forward;
      if (rank.input < gradients)
        ranks[r].push_back(cell::I(i64(r), rank.input++));
      else if (rank.forward < inputs && rank.forward - rank.weight < room)
        ranks[r].push_back(cell::F(i64(r), rank.forward++));
      else if (rank.weight < rank.input)
        ranks[r].push_back(cell::W(i64(r), rank.weight++));
      else
        continue;
      --left;
    }
  }
  return ranks;
}

}  // namespace rankwright::program
