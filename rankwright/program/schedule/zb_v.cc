// ZB-V (Qi et al. 2024, "Pipeline parallelism with controllable memory"): two chunks a rank in a V,
// so that the first rank also has the last stage; all ranks hold the same, 2 pp chunks.
#include <algorithm>

#include "rankwright/program/schedule/schedule.h"

namespace rankwright::program {
namespace {

/// Writes one rank's line by counting microbatches through. Chunk 0 goes down the V, chunk 1 up.
class VShapeOrder {
 public:
  VShapeOrder(const plan::PipelineShape& shape, i64 rank)
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
  /// A short step is a long one whose last microbatches are left out.
  void put(Action cell) {
    if (i64(cell.microbatch) < microbatches_) line.push_back(cell);
  }

  i64 stage_[2];
  i64 microbatches_;
};

Sequence line_of(const plan::PipelineShape& shape, i64 r) {
  const i64 pp = shape.pp;
  const i64 m = std::max(2 * pp - 1, shape.microbatches);
  VShapeOrder vee(shape, r);
  // Warm-up: down until the first microbatch comes back, both ways while it climbs, then the first
  // gradients of chunk 1.
  for (i64 k = 0; k < 2 * (pp - r) - 1; ++k) vee.forward(0);
  for (i64 k = 0; k < r; ++k) {
    vee.forward(1);
    vee.forward(0);
  }
  for (i64 k = 0; k < pp - r; ++k) {
    vee.forward(1);
    vee.both(1);
  }
  while (vee.forwards[1] < vee.forwards[0] || vee.forwards[0] < m) {
    if (vee.forwards[0] < m) vee.forward(0);
    vee.both(0);
    vee.forward(1);
    vee.both(1);
  }
  // Drain: input gradients first, weight gradients where a rank would wait.
  for (i64 k = 0; k < r; ++k) {
    vee.input(0);
    vee.input(1);
  }
  for (i64 k = 0; k < pp - r; ++k) {
    vee.input(0);
    vee.weight(0);
  }
  while (vee.weights[1] < vee.inputs[1]) vee.weight(1);
  while (vee.weights[0] < vee.inputs[0]) vee.weight(0);
  return std::move(vee.line);
}

}  // namespace

Sequences zb_v(const plan::PipelineShape& shape) {
  Sequences ranks;
  for (i64 r = 0; r < shape.pp; ++r) ranks.push_back(line_of(shape, r));
  return ranks;
}

}  // namespace rankwright::program
