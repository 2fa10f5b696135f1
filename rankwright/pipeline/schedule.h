// Pipeline schedules as facts: what a plan file calls them, how stages lie on pp ranks, and which
// shapes they take. What each rank does, in order, is program/: one file a schedule there.
#pragma once

#include <span>
#include <string_view>

#include "rankwright/base/integer.h"

namespace rankwright::pipeline {

enum class Schedule : unsigned char {
  gpipe,
  one_f_one_b,
  interleaved,
  looped_bfs,
  zb_h1,
  zb_2p,
  interleaved_zb,
  zb_v,
  dualpipe,
  dualpipe_v,
};
inline constexpr std::size_t kSchedules = 10;

/// How stages lie on pp ranks: round and round; there and back; or every stage twice, on rank s and
/// on rank pp - 1 - s, so that microbatches enter at both ends.
enum class StageOrder : unsigned char { loop, vee, mirror };

/// One row a schedule.
struct ScheduleRow {
  Schedule schedule;
  std::string_view name;
  StageOrder stage_order;
  i64 min_chunks;  // chunks a pp rank: 1..1 plain, 2..2 for the V ones, 2.. for interleaved
  i64 max_chunks;
  i64 multiple = 1;              // pp ranks and microbatches come in these: DualPipe pairs both
  i64 rounds = 0;                // at least so many microbatches for each pp rank
  bool groups = false;           // microbatches pass the chunks in groups
  bool splits_backward = false;  // into input gradient (I) and weight gradient (W)
};
std::span<const ScheduleRow> schedules();
const ScheduleRow& row(Schedule);
std::string_view name(Schedule);

/// A pipeline without its layers.
struct PipelineShape {
  Schedule schedule = Schedule::one_f_one_b;
  i64 pp = 1;
  i64 chunks = 1;
  i64 microbatches = 1;
  i64 group = 0;  // interleaved: microbatches that pass a chunk in a row; 0 = pp

  i64 stages() const { return pp * chunks; }
  i64 group_size() const { return group == 0 ? pp : group; }

  friend bool operator==(const PipelineShape&, const PipelineShape&) = default;
};

/// What a shape asks of its schedule and does not get. Without a pipeline (pp 1, one chunk) the
/// schedule means nothing and every shape is right.
struct ShapeFault {
  enum class Why : unsigned char {
    none,
    chunks,
    pp_multiple,
    microbatch_multiple,
    microbatches,  // too few
    group,         // smaller than pp: its first microbatch has not come round when it is needed
  };
  Why why = Why::none;
  i64 need = 0, have = 0;

  explicit constexpr operator bool() const { return why != Why::none; }
  friend constexpr bool operator==(const ShapeFault&, const ShapeFault&) = default;
};
ShapeFault shape_fault(const PipelineShape& shape);

/// The pp rank that runs `stage` for `microbatch`.
i64 pp_rank_of(const PipelineShape& shape, i64 stage, i64 microbatch);

/// Microbatches in a row.
struct MicrobatchRun {
  i64 first = 0;
  i64 count = 0;

  friend bool operator==(const MicrobatchRun&, const MicrobatchRun&) = default;
};

/// Those that `pp_rank` runs through `stage`: all or none, and where every stage is held twice one
/// half. The shape has no fault.
MicrobatchRun microbatches_of(const PipelineShape& shape, i64 pp_rank, i64 stage);

}  // namespace rankwright::pipeline
