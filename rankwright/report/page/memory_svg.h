// Draws the memory of each pp rank's devices at their peak: stacked bars, one color per item of
// the memory estimate, compared with the device's memory. If there are too many pp ranks, a sample
// is drawn.
#pragma once

#include <string>

#include "rankwright/report/page/report_view.h"

namespace rankwright::report {

/// Requires: the report names a model.
std::string draw_memory_svg(const planner::PlanReport& report);

}  // namespace rankwright::report
