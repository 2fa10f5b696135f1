// Shared by GPipe and looped BFS: all forwards, chunk by chunk, then all backwards.
#include <algorithm>
#include <vector>

#include "rankwright/pipeline/shared_orders.h"

namespace rankwright::pipeline {

Sequences breadth_first_order(const PipelineShape& shape) {
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

double breadth_first_time(const PipelineTask& task) {
  const std::size_t pp = std::size_t(task.shape.pp), stages = task.times.size();
  const double hop = pp == 1 ? 0 : task.hop, others = double(task.shape.microbatches - 1);
  std::pmr::vector<double> free(pp, 0.0, task.room);  // by rank: end of its last cell
  double first = 0, last = 0;  // ends of the first and last microbatch at the previous stage
  const auto pass = [&](std::size_t rank, double time, double travel) {
    first = std::max(first + travel, free[rank]) + time;
    last = std::max(last + travel + time, first + others * time);
    free[rank] = last;
  };
  for (std::size_t k = 0, r = 0; k < stages; ++k, r = r + 1 == pp ? 0 : r + 1)
    pass(r, task.times[k].forward, k == 0 ? 0 : hop);
  first = last;
  for (std::size_t k = stages, r = pp; k-- > 0;) {
    r = r == 0 ? pp - 1 : r - 1;
    pass(r, task.times[k].backward(), k + 1 == stages ? 0 : hop);
  }
  return last;
}

}  // namespace rankwright::pipeline
