// Properties of pipeline schedules: their names in plan files, how stages are assigned to pp ranks,
// and which pipeline shapes they support. The order of work per rank is in program/, one file per
// schedule.
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

/// How stages are assigned to pp ranks: loop (round-robin), vee (forth and back), or mirror (every
/// stage twice, on ranks s and pp - 1 - s, so that microbatches enter at both ends).
enum class StageOrder : unsigned char { loop, vee, mirror };

/// Properties of one schedule.
struct ScheduleRow {
  Schedule schedule;
  std::string_view name;
  StageOrder order;
  i64 min_chunks;  // chunks per pp rank: 1..1 plain, 2..2 for V schedules, 2.. for interleaved
  i64 max_chunks;
  i64 multiple = 1;     // pp ranks and microbatches must be multiples of this: 2 for DualPipe
  i64 rounds = 0;       // minimum number of microbatches per pp rank
  bool groups = false;  // microbatches run through the chunks in groups
  bool splits_backward = false;  // splits backward into input gradient (I) and weight gradient (W)
};
std::span<const ScheduleRow> schedules();
const ScheduleRow& row(Schedule);
std::string_view name(Schedule);

/// The dimensions of a pipeline, without its layers.
struct PipelineShape {
  Schedule schedule = Schedule::one_f_one_b;
  i64 pp = 1;
  i64 chunks = 1;
  i64 microbatches = 1;
  i64 group = 0;  // interleaved: consecutive microbatches per chunk; 0 = pp

  i64 stages() const { return pp * chunks; }
  i64 group_size() const { return group == 0 ? pp : group; }

  friend bool operator==(const PipelineShape&, const PipelineShape&) = default;
};

/// Why a schedule does not support a shape. Without a pipeline (pp 1, one chunk) the schedule is
/// irrelevant and every shape is valid.
struct ShapeFault {
  enum class Why : unsigned char {
    none,
    chunks,
    pp_multiple,
    microbatch_multiple,
    microbatches,  // too few
    group,         // smaller than pp: its first microbatch is not back when it is needed
  };
  Why why = Why::none;
  i64 need = 0, have = 0;

  explicit constexpr operator bool() const { return why != Why::none; }
  friend constexpr bool operator==(const ShapeFault&, const ShapeFault&) = default;
};
/// Returns why the schedule does not support the shape; `none` if it does.
ShapeFault shape_fault(const PipelineShape& shape);

/// Returns the pp rank that runs `stage` for `microbatch`.
i64 pp_rank_of(const PipelineShape& shape, i64 stage, i64 microbatch);

/// A range of consecutive microbatches.
struct MicrobatchRun {
  i64 first = 0;
  i64 count = 0;

  friend bool operator==(const MicrobatchRun&, const MicrobatchRun&) = default;
};

/// Returns the microbatches that `pp_rank` runs through `stage`: all or none, or one half if every
/// stage is held twice. Requires: the shape has no fault.
MicrobatchRun microbatches_of(const PipelineShape& shape, i64 pp_rank, i64 stage);

}  // namespace rankwright::pipeline
