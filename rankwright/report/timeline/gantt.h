// Draws a simulated step as a Gantt chart for a terminal: one row per pp rank, time from left to
// right, phases above and times below, then a description. Cells wider than a character show their
// microbatch; otherwise each column shows the mix of work. Draws a sample of many ranks.
#pragma once

#include <string>

#include "rankwright/planner/timeline/timeline_summary.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// Draws the chart in lines of at most `width` characters; a width below 60 is raised to 60. Uses
/// background colors if `paint` is on, otherwise ASCII with one character per kind of work.
std::string draw_gantt(const planner::SimulatedStep& simulated,
                       const planner::TimelineSummary& summary, const Paint& paint,
                       std::size_t width);

}  // namespace rankwright::report
