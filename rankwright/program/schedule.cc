#include "rankwright/program/schedule.h"

#include <algorithm>

#include "rankwright/base/check.h"
#include "rankwright/program/chunk_order.h"

namespace rankwright {
namespace {

/// What the rows of plan/schedule.h do.
struct Row {
  Schedule schedule;
  Sequences (*cells)(const PipelineShape&);
  i64 (*in_flight)(const PipelineShape&, i64 pp_rank);  // before it is held against v x M
};

i64 everything(const PipelineShape& s, i64) { return s.chunks * s.microbatches; }

constexpr Row kRows[] = {
    {Schedule::gpipe, gpipe, everything},
    {Schedule::one_f_one_b, one_f_one_b, [](const PipelineShape& s, i64 r) { return s.pp - r; }},
    {Schedule::interleaved, interleaved,
     [](const PipelineShape& s, i64 r) {
       return 2 * (s.pp - r - 1) + (s.chunks - 1) * ChunkOrder(s).group() + 1;
     }},
    {Schedule::looped_bfs, looped_bfs, everything},
    {Schedule::zb_h1, zb_h1, [](const PipelineShape& s, i64) { return s.pp; }},
    {Schedule::zb_2p, zb_2p, [](const PipelineShape& s, i64) { return 2 * s.pp; }},
    {Schedule::interleaved_zb, interleaved_zb,
     [](const PipelineShape& s, i64) { return s.pp + (s.chunks - 1) * ChunkOrder(s).group(); }},
    {Schedule::zb_v, zb_v, [](const PipelineShape& s, i64) { return 2 * s.pp; }},
    {Schedule::dualpipe, dualpipe, [](const PipelineShape& s, i64) { return s.pp + 1; }},
    {Schedule::dualpipe_v, dualpipe_v, [](const PipelineShape& s, i64) { return 2 * s.pp + 1; }},
};
static_assert(std::size(kRows) == kSchedules);

const Row& row_of(Schedule schedule) {
  const Row& found = kRows[std::size_t(schedule)];
  RW_CHECK(found.schedule == schedule);
  return found;
}

}  // namespace

Sequences cells(const PipelineShape& shape) {
  RW_CHECK(!shape_fault(shape));
  // Without a pipeline a rank takes one microbatch after the other.
  if (shape.stages() == 1) return one_f_one_b(shape);
  return row_of(shape.schedule).cells(shape);
}

i64 most_in_flight(const PipelineShape& shape, i64 pp_rank) {
  if (shape.stages() == 1) return 1;
  return std::min(everything(shape, pp_rank), row_of(shape.schedule).in_flight(shape, pp_rank));
}

std::optional<i64> cell_count(const PipelineShape& shape) {
  const i64 each = row(shape.schedule).splits_backward ? 3 : 2;
  return product({shape.pp, shape.chunks, shape.microbatches, each});
}

}  // namespace rankwright
