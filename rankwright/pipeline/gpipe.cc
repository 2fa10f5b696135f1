// GPipe (Huang et al. 2019): all forwards, then all backwards.
#include "rankwright/pipeline/order.h"

namespace rankwright::pipeline {

Sequences gpipe(const PipelineShape& shape) {
  Sequences ranks;
  for (i64 r = 0; r < shape.pp; ++r) {
    Sequence line;
    line.reserve(std::size_t(2 * shape.microbatches));
    for (i64 m = 0; m < shape.microbatches; ++m) line.push_back(cell::F(r, m));
    for (i64 m = 0; m < shape.microbatches; ++m) line.push_back(cell::B(r, m));
    ranks.push_back(std::move(line));
  }
  return ranks;
}

}  // namespace rankwright::pipeline
