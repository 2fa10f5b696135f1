#include "rankwright/pipeline/held.h"

#include <algorithm>

#include "rankwright/pipeline/chunk_order.h"
#include "rankwright/pipeline/order.h"

namespace rankwright::pipeline {

double held_by_one_chunk(const PipelineShape& s, i64 r, std::span<const double> weights) {
  return double(max_in_flight(s, r)) * weights[0];
}

double held_by_all_chunks(const PipelineShape& s, i64, std::span<const double> weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  return double(s.microbatches) * sum;
}

/// The first n forwards are held; then each further forward replaces one activation, in the order
/// of backwards. The held weight changes linearly while both stay in their chunks, so the maximum
/// is at a change of chunk. All rounds of a regular group are alike, so only one of them and the
/// last group are walked.
double held_in_chunk_order(const PipelineShape& s, i64 r, std::span<const double> weights) {
  const ChunkOrder order(s);
  const i64 n = max_in_flight(s, r);
  ChunkOrder::Walk begun(order), ended(order);
  double held = 0;
  for (i64 left = n; left > 0;) {
    const i64 step = std::min(begun.left(), left);
    held += double(step) * weights[std::size_t(begun.chunk())];
    begun.advance(step);
    left -= step;
  }
  double max = held;
  const i64 round = order.round();
  for (i64 left = order.size() - n, done = 0; left > 0;) {
    if (done == round) {
      const i64 alike = begun.groups_ahead();
      begun.skip(alike);
      ended.skip(alike);
      left -= alike * round;
    }
    const i64 step = std::min({begun.left(), ended.left(), left});
    held += double(step) * (weights[std::size_t(begun.chunk())] -
                            weights[std::size_t(s.chunks - 1 - ended.chunk())]);
    max = std::max(max, held);
    begun.advance(step);
    ended.advance(step);
    left -= step;
    done += step;
  }
  return max;
}

double held_by_two_streams(const PipelineShape& s, std::span<const double> weights, i64 near,
                           i64 far) {
  return double(std::min(near, s.microbatches)) * weights[0] +
         double(std::min(far, s.microbatches)) * weights[1];
}

i64 whole_in_flight(const PipelineShape& shape, i64 pp_rank) {
  if (shape.chunks == 1) return max_in_flight(shape, pp_rank);
  if (shape.schedule != Schedule::interleaved) return 1;  // a microbatch in its last chunk
  // After the warm-up, all chunks but the last hold a group.
  return std::min(ChunkOrder(shape).usual_group(), 2 * (shape.pp - pp_rank) - 1);
}

}  // namespace rankwright::pipeline
