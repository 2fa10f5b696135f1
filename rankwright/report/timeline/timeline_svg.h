// A simulated step as an SVG picture that stands alone: rows, phases, axis, legend and words as in
// gantt.h, for light and for dark pages. Cells tell more when pointed at; beyond 20,000 of them
// columns of time show what fills them, so that the file stays small.
#pragma once

#include <string>
#include <string_view>

#include "rankwright/planner/timeline/timeline_summary.h"

namespace rankwright::report {

/// `heading` stands above the picture: the model and the cluster.
std::string timeline_svg(const planner::SimulatedStep& simulated,
                         const planner::TimelineSummary& summary, std::string_view heading);

}  // namespace rankwright::report
