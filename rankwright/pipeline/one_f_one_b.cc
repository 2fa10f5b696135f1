// 1F1B (PipeDream-flush, Narayanan et al. 2021): rank r starts with pp - r - 1 forwards, then
// alternates one forward and one backward, so it never holds more than pp - r microbatches.
#include <algorithm>

#include "rankwright/pipeline/chunked_pipeline_sim.h"
#include "rankwright/pipeline/held.h"
#include "rankwright/pipeline/rows.h"

namespace rankwright::pipeline {
namespace {

Sequences one_f_one_b_order(const PipelineShape& shape) {
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

}  // namespace

constinit const ScheduleRow kOneFOneB{
    .schedule = Schedule::one_f_one_b,
    .name = "1f1b",
    .order = one_f_one_b_order,
    .in_flight = [](const PipelineShape& s, i64 r) { return s.pp - r; },
    .held = held_by_one_chunk,
    .bubble = [](double pp, double) { return (pp - 1) * (kF + kB); },  // B1
    .time = [](const PipelineTask& task) { return chunked_time(task, 1); },
};

}  // namespace rankwright::pipeline
