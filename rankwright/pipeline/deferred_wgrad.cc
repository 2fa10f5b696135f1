// The common order of ZB-H1 and interleaved zero-bubble: 1F1B with the input gradient in place of
// the backward, so that the previous stage gets it sooner. Rank r defers each weight gradient by r
// input gradients, into what would be the bubble.
#include <algorithm>

#include "rankwright/pipeline/chunk_order.h"
#include "rankwright/pipeline/shared_orders.h"

namespace rankwright::pipeline {

Sequences build_deferred_wgrad(const PipelineShape& shape) {
  const ChunkOrder order(shape);
  Sequences ranks;
  for (i64 r = 0; r < shape.pp; ++r) {
    const i64 ahead = std::min(order.size(), shape.pp - r - 1 + (shape.chunks - 1) * order.group());
    Sequence line;
    line.reserve(std::size_t(3 * order.size()));
    const auto backward = [&](i64 k, Action (*cell)(i64, i64)) {
      const ChunkOrder::At at = order.backward(k);
      line.push_back(cell(at.chunk * shape.pp + r, at.microbatch));
    };
    // The k-th input gradient, sampled by the (k - r)-th weight gradient.
    const auto gradients = [&](i64 k) {
      backward(k, cell::I);
      if (k >= r) backward(k - r, cell::W);
    };
    for (i64 k = 0; k < order.size(); ++k) {
      const ChunkOrder::At at = order.forward(k);
      line.push_back(cell::F(at.chunk * shape.pp + r, at.microbatch));
      if (k >= ahead) gradients(k - ahead);
    }
    for (i64 k = order.size() - ahead; k < order.size(); ++k) gradients(k);
    for (i64 k = std::max<i64>(0, order.size() - r); k < order.size(); ++k) backward(k, cell::W);
    ranks.push_back(std::move(line));
  }
  return ranks;
}

}  // namespace rankwright::pipeline
