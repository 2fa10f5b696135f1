// What fills the devices of each pp rank when they are fullest: stacked bars, one colour an entry
// of the ledger, against what a device has. Of more pp ranks than fit a sample is drawn.
#pragma once

#include <string>

#include "rankwright/report/page/report_view.h"

namespace rankwright::report {

/// Of a model that is named.
std::string memory_svg(const planner::PlanReport& report);

}  // namespace rankwright::report
