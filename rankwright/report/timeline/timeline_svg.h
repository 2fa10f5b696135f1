// Draws a simulated step as a self-contained SVG picture, for light and dark pages: rows, phases,
// axis, legend and description as in gantt.h. Cells show details on hover; beyond 20,000 cells,
// columns show how time is spent, which keeps the file small.
#pragma once

#include <string>
#include <string_view>

#include "rankwright/planner/timeline/timeline_summary.h"

namespace rankwright::report {

/// Draws the picture. `heading`, the model and the cluster, is written above it.
std::string draw_timeline_svg(const planner::SimulatedStep& simulated,
                              const planner::TimelineSummary& summary, std::string_view heading);

}  // namespace rankwright::report
