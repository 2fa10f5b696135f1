// Helpers shared by all drawings of a simulated step: event names, shades of chunks, how a rank's
// time is spent, and which ranks are drawn.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "rankwright/planner/timeline/simulated_step.h"
#include "rankwright/report/render/event_color.h"

namespace rankwright::report {

/// Returns the number of shades of a rank's cells: its chunks, or two if microbatches enter at
/// both ends.
i64 count_shades(const pipeline::PipelineShape& shape);

/// Returns the shade of a cell, from 0; 0 for steps outside of cells.
i64 find_shade(const pipeline::PipelineShape& shape, i64 pp_rank, const pipeline::Action& action);

/// Returns "2F0" for a cell, otherwise the name of the step.
std::string name_event(const program::Program& program, i64 pp_rank,
                       const pipeline::Action& action);

/// Returns the kinds of work that the program has, in the order of the enum.
std::vector<planner::EventKind> find_used_kinds(const program::Program& program);

/// Maximum number of events to draw individually; a drawing with more takes seconds to open.
inline constexpr i64 kMaxDrawnCells = 20'000;

/// Returns whether a timeline has few enough cells and steps to draw each of them.
bool can_draw_each(const program::Program& program, i64 cells);

/// Returns the ranks to draw: all of them, or `max` evenly spaced ones from the first to the last.
std::vector<i64> select_ranks_to_draw(i64 pp, i64 max);

/// How one of many equal parts of a rank's step is spent. The shares add up to at most 1; the rest
/// is idle.
struct Column {
  std::array<double, planner::kEventKinds> share{};

  double of(planner::EventKind kind) const { return share[std::size_t(kind)]; }
  double backward() const;
  double busy() const;
};
/// Splits the step of a rank into `count` columns.
std::vector<Column> columns(const planner::SimulatedStep& simulated, i64 pp_rank,
                            std::size_t count);

}  // namespace rankwright::report
