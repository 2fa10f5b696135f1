// 1F1B (PipeDream-flush, Narayanan et al. 2021): rank r starts with pp - r - 1 forwards, then
// alternates one forward and one backward, so it never holds more than pp - r microbatches.
#include <algorithm>

#include "rankwright/pipeline/order.h"

namespace rankwright::pipeline {

Sequences one_f_one_b(const PipelineShape& shape) {
  Sequences ranks;
  for (i64 r = 0; r < shape.pp; ++r) {
    const i64 ahead = std::min(shape.microbatches, shape.pp - r - 1);
    Sequence line;
    line.reserve(std::size_t(2 * shape.microbatches));
    for (i64 m = 0; m < ahead; ++m) line.push_back(cell::F(r, m));
    for (i64 m = ahead; m < shape.microbatches; ++m) {
      line.push_back(cell::F(r, m));
      line.push_back(cell::B(r, m - ahead));
    }
    for (i64 m = shape.microbatches - ahead; m < shape.microbatches; ++m)
      line.push_back(cell::B(r, m));
    ranks.push_back(std::move(line));
  }
  return ranks;
}

}  // namespace rankwright::pipeline
