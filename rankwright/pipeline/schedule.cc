#include "rankwright/pipeline/schedule.h"

#include <algorithm>
#include <limits>

namespace rankwright::pipeline {
namespace {

constexpr i64 kAny = std::numeric_limits<i64>::max();

using O = StageOrder;

constexpr ScheduleRow kRows[] = {
    {Schedule::gpipe, "gpipe", O::loop, 1, 1},
    {Schedule::one_f_one_b, "1f1b", O::loop, 1, 1},
    {.schedule = Schedule::interleaved,
     .name = "interleaved-1f1b",
     .stage_order = O::loop,
     .min_chunks = 2,
     .max_chunks = kAny,
     .groups = true},
    {Schedule::looped_bfs, "looped-bfs", O::loop, 2, kAny},
    {.schedule = Schedule::zb_h1,
     .name = "zb-h1",
     .stage_order = O::loop,
     .min_chunks = 1,
     .max_chunks = 1,
     .splits_backward = true},
    {.schedule = Schedule::zb_2p,
     .name = "zb-2p",
     .stage_order = O::loop,
     .min_chunks = 1,
     .max_chunks = 1,
     .splits_backward = true},
    {.schedule = Schedule::interleaved_zb,
     .name = "interleaved-zb",
     .stage_order = O::loop,
     .min_chunks = 2,
     .max_chunks = kAny,
     .groups = true,
     .splits_backward = true},
    {.schedule = Schedule::zb_v,
     .name = "zb-v",
     .stage_order = O::vee,
     .min_chunks = 2,
     .max_chunks = 2,
     .splits_backward = true},
    {.schedule = Schedule::dualpipe,
     .name = "dualpipe",
     .stage_order = O::mirror,
     .min_chunks = 1,
     .max_chunks = 1,
     .multiple = 2,
     .rounds = 2,
     .splits_backward = true},
    {.schedule = Schedule::dualpipe_v,
     .name = "dualpipe-v",
     .stage_order = O::vee,
     .min_chunks = 2,
     .max_chunks = 2,
     .rounds = 2,
     .splits_backward = true},
};
static_assert(std::size(kRows) == kSchedules);

}  // namespace

std::span<const ScheduleRow> schedules() { return kRows; }
const ScheduleRow& row(Schedule schedule) { return kRows[std::size_t(schedule)]; }
std::string_view name(Schedule schedule) { return row(schedule).name; }

ShapeFault shape_fault(const PipelineShape& s) {
  using Fault = ShapeFault::Why;
  const ScheduleRow& r = row(s.schedule);
  if (s.pp == 1 && s.chunks == 1) return {};
  if (s.chunks < r.min_chunks) return {Fault::chunks, r.min_chunks, s.chunks};
  if (s.chunks > r.max_chunks) return {Fault::chunks, r.max_chunks, s.chunks};
  if (s.pp % r.multiple != 0) return {Fault::pp_multiple, r.multiple, s.pp};
  if (s.microbatches % r.multiple != 0)
    return {Fault::microbatch_multiple, r.multiple, s.microbatches};
  // Divided, because a product might leave 64 bits.
  if (r.rounds > 0 && s.microbatches / r.rounds < s.pp)
    return {Fault::microbatches, r.rounds * s.pp, s.microbatches};
  const i64 min = std::min(s.pp, s.microbatches);
  if (r.groups && s.group_size() < min) return {Fault::group, min, s.group_size()};
  return {};
}

i64 pp_rank_of(const PipelineShape& shape, i64 stage, i64 microbatch) {
  const i64 pass = stage / shape.pp;
  const i64 offset = stage % shape.pp;
  switch (row(shape.schedule).stage_order) {
    case StageOrder::loop:
      return offset;
    case StageOrder::vee:
      return pass % 2 == 1 ? shape.pp - 1 - offset : offset;
    case StageOrder::mirror:
      // The first half of the microbatches enters at rank 0, the second at the last rank.
      return microbatch < shape.microbatches / 2 || shape.pp == 1 ? offset : shape.pp - 1 - offset;
  }
  return offset;
}

MicrobatchRun microbatches_of(const PipelineShape& shape, i64 pp_rank, i64 stage) {
  const i64 m = shape.microbatches;
  const bool halves = row(shape.schedule).stage_order == StageOrder::mirror && shape.pp > 1;
  if (!halves)
    return pp_rank_of(shape, stage, 0) == pp_rank ? MicrobatchRun{0, m} : MicrobatchRun{};
  if (pp_rank_of(shape, stage, 0) == pp_rank) return {0, m / 2};
  return pp_rank_of(shape, stage, m - 1) == pp_rank ? MicrobatchRun{m / 2, m - m / 2}
                                                    : MicrobatchRun{};
}

}  // namespace rankwright::pipeline
