// ZB-V (Qi et al. 2024, "Pipeline parallelism with controllable memory"): two chunks per rank in a
// V shape, so that the first rank also has the last stage. Every rank holds at most 2 pp
// activations.
#include <algorithm>

#include "rankwright/pipeline/order.h"

namespace rankwright::pipeline {
namespace {

/// Writes the cells of one rank and counts microbatches. Chunk 0 goes down the V, chunk 1 up.
class VShapeOrder {
 public:
  VShapeOrder(const PipelineShape& shape, i64 rank)
      : stage_{rank, 2 * shape.pp - 1 - rank}, microbatches_(shape.microbatches) {
    line.reserve(std::size_t(6 * shape.microbatches));
  }

  void forward(int chunk) { put(cell::F(stage_[chunk], forwards[chunk]++)); }
  void input(int chunk) { put(cell::I(stage_[chunk], inputs[chunk]++)); }
  void weight(int chunk) { put(cell::W(stage_[chunk], weights[chunk]++)); }
  void both(int chunk) {
    input(chunk);
    weight(chunk);
  }

  i64 forwards[2] = {0, 0}, inputs[2] = {0, 0}, weights[2] = {0, 0};
  Sequence line{};

 private:
  /// Appends a cell. With few microbatches, the order is that of 2 pp - 1 microbatches with the
  /// excess ones left out.
  void put(Action cell) {
    if (i64(cell.microbatch) < microbatches_) line.push_back(cell);
  }

  i64 stage_[2];
  i64 microbatches_;
};

Sequence line_of(const PipelineShape& shape, i64 r) {
  const i64 pp = shape.pp;
  const i64 m = std::max(2 * pp - 1, shape.microbatches);
  VShapeOrder order(shape, r);
  // Warm-up: forwards of chunk 0 until the first microbatch comes back, then of both chunks in
  // turn, then the first gradients of chunk 1.
  for (i64 k = 0; k < 2 * (pp - r) - 1; ++k) order.forward(0);
  for (i64 k = 0; k < r; ++k) {
    order.forward(1);
    order.forward(0);
  }
  for (i64 k = 0; k < pp - r; ++k) {
    order.forward(1);
    order.both(1);
  }
  while (order.forwards[1] < order.forwards[0] || order.forwards[0] < m) {
    if (order.forwards[0] < m) order.forward(0);
    order.both(0);
    order.forward(1);
    order.both(1);
  }
  // Drain: input gradients first, then weight gradients where the rank would wait.
  for (i64 k = 0; k < r; ++k) {
    order.input(0);
    order.input(1);
  }
  for (i64 k = 0; k < pp - r; ++k) {
    order.input(0);
    order.weight(0);
  }
  while (order.weights[1] < order.inputs[1]) order.weight(1);
  while (order.weights[0] < order.inputs[0]) order.weight(0);
  return std::move(order.line);
}

}  // namespace

Sequences zb_v(const PipelineShape& shape) {
  Sequences ranks;
  for (i64 r = 0; r < shape.pp; ++r) ranks.push_back(line_of(shape, r));
  return ranks;
}

}  // namespace rankwright::pipeline
