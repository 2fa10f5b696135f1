// A simulated step as a Gantt chart for a terminal: a row a pp rank, time from left to right,
// phases above and times below, then what it comes to in words. Cells that are wider than a
// character carry their microbatch; of narrower ones a column shows the mixture. Of many ranks some
// are drawn.
#pragma once

#include <string>

#include "rankwright/planner/timeline/timeline_summary.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// No line is longer than `width`, which is at least 60. SearchContext colours where `paint` is on;
/// else ASCII, in which each kind of work has a character of its own.
std::string gantt(const planner::SimulatedStep& simulated, const planner::TimelineSummary& summary,
                  const Paint& paint, std::size_t width);

}  // namespace rankwright::report
