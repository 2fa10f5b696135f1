// Pipeline schedules: the table of their facts and formulas, the shape of a pipeline, and the
// mapping of stages to pp ranks. Each schedule defines its row in its own file; rows.h lists them.
// The functions that apply a row to a shape are in order.h, bubble.h and pipeline_time.h.
#pragma once

#include <limits>
#include <span>
#include <string_view>

#include "rankwright/base/integer.h"
#include "rankwright/pipeline/action.h"

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

/// The mapping of stages to pp ranks.
enum class StageOrder : unsigned char {
  loop,    // stage s is on rank s % pp
  vee,     // forth and back: 0, 1, .., pp - 1, pp - 1, .., 1, 0
  mirror,  // every stage twice, on ranks s and pp - 1 - s; microbatches enter at both ends
};

/// A pipeline without its layers.
struct PipelineShape {
  Schedule schedule = Schedule::one_f_one_b;
  i64 pp = 1;
  i64 chunks = 1;
  i64 microbatches = 1;
  i64 group = 0;  // interleaved: consecutive microbatches of one chunk; 0 means pp

  i64 stages() const { return pp * chunks; }
  i64 group_size() const { return group == 0 ? pp : group; }

  friend bool operator==(const PipelineShape&, const PipelineShape&) = default;
};

struct PipelineTask;  // pipeline_task.h

inline constexpr i64 kAnyChunks = std::numeric_limits<i64>::max();

/// The facts and formulas of one schedule.
struct ScheduleRow {
  Schedule schedule;
  std::string_view name;  // in plan files and output
  StageOrder stage_order = StageOrder::loop;
  i64 min_chunks = 1;  // per pp rank
  i64 max_chunks = 1;
  i64 multiple = 1;              // pp and microbatches must be multiples of this
  i64 rounds = 0;                // minimum number of microbatches per pp rank
  bool groups = false;           // microbatches pass through the chunks in groups
  bool splits_backward = false;  // into input gradient (I) and weight gradient (W)

  /// Returns the cells of every pp rank, in order.
  Sequences (*order)(const PipelineShape&);
  /// Returns the maximum number of activations held by a pp rank, not limited to chunks * M.
  i64 (*in_flight)(const PipelineShape&, i64 pp_rank);
  /// Returns the maximum weight held by a pp rank if an activation of its k-th chunk weighs
  /// weights[k].
  double (*held)(const PipelineShape&, i64 pp_rank, std::span<const double> weights);
  /// Returns the idle time of a step in units of F = I = W = 1; see bubble.h.
  double (*bubble)(double pp, double chunks);
  /// Returns the time of all cells in closed form, in seconds; see pipeline_time.h.
  double (*time)(const PipelineTask&);
};

/// Returns all rows, in the order of the enumerators.
std::span<const ScheduleRow> schedules();
const ScheduleRow& row(Schedule schedule);
std::string_view name(Schedule schedule);

/// Returns the schedule of a plan that names none: 1F1B, or interleaved 1F1B with several chunks.
constexpr Schedule default_schedule(i64 chunks) {
  return chunks > 1 ? Schedule::interleaved : Schedule::one_f_one_b;
}

/// The first requirement of its schedule that a shape violates. Without a pipeline (pp 1, one
/// chunk) the schedule has no meaning and there is no fault.
struct ShapeFault {
  enum class Why : unsigned char {
    none,
    chunks,
    pp_multiple,
    microbatch_multiple,
    microbatches,  // too few
    group,         // smaller than pp: its first microbatch has not come around when it is needed
  };
  Why why = Why::none;
  i64 need = 0, have = 0;

  explicit constexpr operator bool() const { return why != Why::none; }
  friend constexpr bool operator==(const ShapeFault&, const ShapeFault&) = default;
};
ShapeFault find_shape_fault(const PipelineShape& shape);

/// Returns the pp rank that runs `stage` for `microbatch`.
i64 find_pp_rank(const PipelineShape& shape, i64 stage, i64 microbatch);

/// Consecutive microbatches.
struct MicrobatchRun {
  i64 first = 0;
  i64 count = 0;

  friend bool operator==(const MicrobatchRun&, const MicrobatchRun&) = default;
};

/// Returns the microbatches that `pp_rank` runs through `stage`: all or none, or one half where
/// every stage is on two ranks. Requires: the shape has no fault.
MicrobatchRun find_microbatches(const PipelineShape& shape, i64 pp_rank, i64 stage);

}  // namespace rankwright::pipeline
