#include "rankwright/pipeline/schedule.h"

#include <algorithm>
#include <array>

#include "rankwright/base/check.h"
#include "rankwright/pipeline/rows.h"

namespace rankwright::pipeline {
namespace {

std::array<ScheduleRow, kSchedules> copy_rows() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    RW_CHECK((... && (kRows[I].row->schedule == kRows[I].schedule)));
    return std::array{*kRows[I].row...};
  }
  (std::make_index_sequence<kSchedules>());
}

}  // namespace

std::span<const ScheduleRow> schedules() {
  static const std::array<ScheduleRow, kSchedules> rows = copy_rows();
  return rows;
}

const ScheduleRow& row(Schedule schedule) { return *kRows[std::size_t(schedule)].row; }
std::string_view name(Schedule schedule) { return row(schedule).name; }

ShapeFault find_shape_fault(const PipelineShape& s) {
  using Fault = ShapeFault::Why;
  const ScheduleRow& r = row(s.schedule);
  if (s.pp == 1 && s.chunks == 1) return {};
  if (s.chunks < r.min_chunks) return {Fault::chunks, r.min_chunks, s.chunks};
  if (s.chunks > r.max_chunks) return {Fault::chunks, r.max_chunks, s.chunks};
  if (s.pp % r.multiple != 0) return {Fault::pp_multiple, r.multiple, s.pp};
  if (s.microbatches % r.multiple != 0)
    return {Fault::microbatch_multiple, r.multiple, s.microbatches};
  // A division, because the product could overflow.
  if (r.rounds > 0 && s.microbatches / r.rounds < s.pp)
    return {Fault::microbatches, r.rounds * s.pp, s.microbatches};
  const i64 min = std::min(s.pp, s.microbatches);
  if (r.groups && s.group_size() < min) return {Fault::group, min, s.group_size()};
  return {};
}

i64 find_pp_rank(const PipelineShape& shape, i64 stage, i64 microbatch) {
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

MicrobatchRun find_microbatches(const PipelineShape& shape, i64 pp_rank, i64 stage) {
  const i64 m = shape.microbatches;
  const bool halves = row(shape.schedule).stage_order == StageOrder::mirror && shape.pp > 1;
  if (!halves)
    return find_pp_rank(shape, stage, 0) == pp_rank ? MicrobatchRun{0, m} : MicrobatchRun{};
  if (find_pp_rank(shape, stage, 0) == pp_rank) return {0, m / 2};
  return find_pp_rank(shape, stage, m - 1) == pp_rank ? MicrobatchRun{m / 2, m - m / 2}
                                                      : MicrobatchRun{};
}

}  // namespace rankwright::pipeline
