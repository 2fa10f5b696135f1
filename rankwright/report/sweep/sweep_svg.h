// Draws a sweep as one SVG picture: for settings of the pipeline the simulated step of each value,
// stacked on a common time scale; for others bars of time and memory. timeline/timeline_svg.h draws
// one step in detail.
#pragma once

#include <string>

#include "rankwright/planner/explain/sweep_view.h"

namespace rankwright::report {

/// Draws the picture. Steps of more than kMaxSweptCells cells are named, not drawn.
std::string draw_sweep_svg(const planner::SweepAnswer& answer);

/// Maximum number of cells of one drawn step: simulating more takes seconds per value.
inline constexpr i64 kMaxSweptCells = 100'000;

}  // namespace rankwright::report
