// ZB-2P (Qi et al. 2024): with memory for 2 pp microbatches, no rank waits after its first cell if
// F = I = W. The order comes from a unit-time simulation of all ranks: each runs an input gradient
// if one is ready, else a forward if memory allows, else a weight gradient.
#include "rankwright/pipeline/order.h"

namespace rankwright::pipeline {
namespace {

/// The number of cells of each kind that a rank has run. Each kind runs in microbatch order.
struct Done {
  i64 forward = 0, input = 0, weight = 0;
};

}  // namespace

Sequences zb_2p(const PipelineShape& shape) {
  const std::size_t pp = std::size_t(shape.pp);
  const i64 room = 2 * shape.pp;
  Sequences ranks(pp);
  for (Sequence& line : ranks) line.reserve(std::size_t(3 * shape.microbatches));
  std::vector<Done> now(pp), before(pp);
  for (i64 left = 3 * shape.pp * shape.microbatches; left > 0;) {
    before = now;  // inputs available now were produced one time unit ago
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

}  // namespace rankwright::pipeline
