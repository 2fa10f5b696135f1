// Helpers of all drawings of a simulated step: names of its events, which chunk a stage is, how a
// rank's time is spent, which ranks are drawn, and where an axis has marks.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "rankwright/planner/timeline/simulated_step.h"
#include "rankwright/report/render/event_color.h"

namespace rankwright::report {

/// How many shades a rank's cells have: its chunks, or two where microbatches enter at both ends.
i64 shades(const pipeline::PipelineShape& shape);

/// Which of them a cell has. 0 for a step.
i64 shade_of(const pipeline::PipelineShape& shape, i64 pp_rank, const pipeline::Action& action);

/// "2F0" for a cell; a step's own name.
std::string event_name(const program::Program& program, i64 pp_rank,
                       const pipeline::Action& action);

/// The kinds of work that there are, in the order of the table.
std::vector<planner::EventKind> used_kinds(const program::Program& program);

/// A drawing of more events than this, one by one, takes seconds to open.
inline constexpr i64 kMaxDrawnCells = 20'000;

/// Returns whether the cells and steps of a timeline are few enough to be drawn one by one.
bool draws_each(const program::Program& program, i64 cells);

/// The ranks that are drawn: all of them, or `most` from the first to the last, evenly spaced.
std::vector<i64> drawn_ranks(i64 pp, i64 max);

/// How an equal part of a rank's step is spent; what is missing to 1 is idle.
struct Column {
  std::array<double, planner::kEventKinds> share{};

  double of(planner::EventKind ink) const { return share[std::size_t(ink)]; }
  double backward() const;
  double busy() const;
};
std::vector<Column> columns(const planner::SimulatedStep& simulated, i64 pp_rank,
                            std::size_t count);

}  // namespace rankwright::report
