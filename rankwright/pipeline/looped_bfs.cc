// Looped breadth-first (Lamy-Poirier 2023): all microbatches pass chunk 0, then chunk 1 and so on;
// backwards start with the last chunk. It is GPipe with chunks: all uses of a layer's weights in
// one direction are consecutive.
#include "rankwright/pipeline/order.h"

namespace rankwright::pipeline {

Sequences looped_bfs(const PipelineShape& shape) {
  Sequences ranks;
  for (i64 r = 0; r < shape.pp; ++r) {
    Sequence line;
    line.reserve(std::size_t(2 * shape.chunks * shape.microbatches));
    for (i64 c = 0; c < shape.chunks; ++c)
      for (i64 m = 0; m < shape.microbatches; ++m) line.push_back(cell::F(c * shape.pp + r, m));
    for (i64 c = shape.chunks - 1; c >= 0; --c)
      for (i64 m = 0; m < shape.microbatches; ++m) line.push_back(cell::B(c * shape.pp + r, m));
    ranks.push_back(std::move(line));
  }
  return ranks;
}

}  // namespace rankwright::pipeline
