#include "rankwright/pipeline/order.h"

#include <algorithm>
#include <functional>

#include "rankwright/base/check.h"
#include "rankwright/pipeline/chunk_order.h"

namespace rankwright::pipeline {
namespace {

using Weights = std::span<const double>;

/// The functions of one schedule of plan/schedule.h.
struct Row {
  Schedule schedule;
  Sequences (*cells)(const PipelineShape&);
  i64 (*in_flight)(const PipelineShape&, i64 pp_rank);  // not yet limited to v * M
  double (*held)(const PipelineShape&, i64 pp_rank, Weights);
};

i64 everything(const PipelineShape& s, i64) { return s.chunks * s.microbatches; }

double one_chunk(const PipelineShape& s, i64 r, Weights weights) {
  return double(max_in_flight(s, r)) * weights[0];
}

double all_chunks(const PipelineShape& s, i64, Weights weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  return double(s.microbatches) * sum;
}

/// Returns the maximum held weight for schedules in ChunkOrder. The first n forwards are held; then
/// each further forward replaces one activation, in the order of backwards. The held weight changes
/// linearly while both stay in their chunks, so the maximum is at a change of chunk. All rounds of
/// a regular group are alike, so only one of them and the last group are walked.
double in_chunk_order(const PipelineShape& s, i64 r, Weights weights) {
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

/// Returns the weight of `near` activations of chunk 0 and `far` activations of chunk 1.
double held_by_two_streams(const PipelineShape& s, Weights weights, i64 near, i64 far) {
  return double(std::min(near, s.microbatches)) * weights[0] +
         double(std::min(far, s.microbatches)) * weights[1];
}

constexpr Row kOrderRows[] = {
    {Schedule::gpipe, gpipe, everything, one_chunk},
    {Schedule::one_f_one_b, one_f_one_b, [](const PipelineShape& s, i64 r) { return s.pp - r; },
     one_chunk},
    {Schedule::interleaved, interleaved,
     [](const PipelineShape& s, i64 r) {
       return 2 * (s.pp - r - 1) + (s.chunks - 1) * ChunkOrder(s).group() + 1;
     },
     in_chunk_order},
    {Schedule::looped_bfs, looped_bfs, everything, all_chunks},
    {Schedule::zb_h1, zb_h1, [](const PipelineShape& s, i64) { return s.pp; }, one_chunk},
    {Schedule::zb_2p, zb_2p, [](const PipelineShape& s, i64) { return 2 * s.pp; }, one_chunk},
    {Schedule::interleaved_zb, interleaved_zb,
     [](const PipelineShape& s, i64) { return s.pp + (s.chunks - 1) * ChunkOrder(s).group(); },
     in_chunk_order},
    {Schedule::zb_v, zb_v, [](const PipelineShape& s, i64) { return 2 * s.pp; },
     [](const PipelineShape& s, i64 r, Weights weights) {
       return std::max(held_by_two_streams(s, weights, 2 * s.pp - r, r),
                       held_by_two_streams(s, weights, 2 * s.pp - r - 1, r + 1));
     }},
    {Schedule::dualpipe, dualpipe, [](const PipelineShape& s, i64) { return s.pp + 1; },
     [](const PipelineShape& s, i64 r, Weights weights) {
       const i64 depth = std::min(r, s.pp - 1 - r);
       return held_by_two_streams(s, weights, s.pp - depth, depth + 1);
     }},
    {Schedule::dualpipe_v, dualpipe_v, [](const PipelineShape& s, i64) { return 2 * s.pp + 1; },
     [](const PipelineShape& s, i64 r, Weights weights) {
       return held_by_two_streams(s, weights, 2 * s.pp - r, r + 1);
     }},
};
static_assert(std::size(kOrderRows) == kSchedules);

const Row& row_of(Schedule schedule) {
  const Row& found = kOrderRows[std::size_t(schedule)];
  RW_CHECK(found.schedule == schedule);
  return found;
}

}  // namespace

Sequences cells(const PipelineShape& shape) {
  RW_CHECK(!shape_fault(shape));
  // Without a pipeline, a rank runs one microbatch after the other.
  if (shape.stages() == 1) return one_f_one_b(shape);
  return row_of(shape.schedule).cells(shape);
}

i64 max_in_flight(const PipelineShape& shape, i64 pp_rank) {
  if (shape.stages() == 1) return 1;
  return std::min(everything(shape, pp_rank), row_of(shape.schedule).in_flight(shape, pp_rank));
}

double max_held(const PipelineShape& shape, i64 pp_rank, std::span<const double> weights) {
  if (shape.stages() == 1) return weights[0];
  const bool alike =
      std::adjacent_find(weights.begin(), weights.end(), std::not_equal_to<>()) == weights.end();
  if (alike) return double(max_in_flight(shape, pp_rank)) * weights[0];
  return row_of(shape.schedule).held(shape, pp_rank, weights);
}

std::optional<i64> cell_count(const PipelineShape& shape) {
  const i64 each = row(shape.schedule).splits_backward ? 3 : 2;
  return product({shape.pp, shape.chunks, shape.microbatches, each});
}

}  // namespace rankwright::pipeline
