// The timelines of a report: every cell of a simulated step, and of a measured one, in whole ticks
// of a power of ten of a second; of more cells than a page can hold, what fills equal parts of the
// step.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "rankwright/report/page/report_view.h"

namespace rankwright::report {

/// Null where the step was not simulated.
nlohmann::ordered_json timeline_report_json(const planner::PlanReport& report);

/// Null where no trace was given.
nlohmann::ordered_json measured_report_json(const planner::PlanReport& report);

}  // namespace rankwright::report
