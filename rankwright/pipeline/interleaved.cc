// Interleaved 1F1B (Narayanan et al. 2021): each rank has v chunks, and groups of g microbatches
// pass one chunk after another. Rank r starts with 2(pp - r - 1) + (v - 1)g forwards: the number it
// runs until the first microbatch has come around v times and its gradient has come back.
#include <algorithm>

#include "rankwright/pipeline/chunk_order.h"
#include "rankwright/pipeline/chunked_pipeline_sim.h"
#include "rankwright/pipeline/held.h"
#include "rankwright/pipeline/rows.h"

namespace rankwright::pipeline {
namespace {

Sequences interleaved_order(const PipelineShape& shape) {
  const ChunkOrder order(shape);
  Sequences ranks;
  for (i64 r = 0; r < shape.pp; ++r) {
    const i64 ahead =
        std::min(order.size(), 2 * (shape.pp - r - 1) + (shape.chunks - 1) * order.group());
    Sequence line;
    line.reserve(std::size_t(2 * order.size()));
    const auto forward = [&](i64 k) {
      const ChunkOrder::At at = order.forward(k);
      line.push_back(cell::F(at.chunk * shape.pp + r, at.microbatch));
    };
    const auto backward = [&](i64 k) {
      const ChunkOrder::At at = order.backward(k);
      line.push_back(cell::B(at.chunk * shape.pp + r, at.microbatch));
    };
    for (i64 k = 0; k < ahead; ++k) forward(k);
    for (i64 k = ahead; k < order.size(); ++k) {
      forward(k);
      backward(k - ahead);
    }
    for (i64 k = order.size() - ahead; k < order.size(); ++k) backward(k);
    ranks.push_back(std::move(line));
  }
  return ranks;
}

}  // namespace

constinit const ScheduleRow kInterleaved{
    .schedule = Schedule::interleaved,
    .name = "interleaved-1f1b",
    .min_chunks = 2,
    .max_chunks = kAnyChunks,
    .groups = true,
    .order = interleaved_order,
    .in_flight =
        [](const PipelineShape& s, i64 r) {
          return 2 * (s.pp - r - 1) + (s.chunks - 1) * ChunkOrder(s).group() + 1;
        },
    .held = held_in_chunk_order,
    .bubble = [](double pp, double chunks) { return (pp - 1) * (kF + kB) / chunks; },  // B2
    .time = [](const PipelineTask& task) { return chunked_time(task, 2); },
};

}  // namespace rankwright::pipeline
