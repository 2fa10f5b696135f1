// The timelines of a report: every cell of the simulated and of the measured step, in integer
// ticks of a power of ten of a second. If there are too many cells, the shares of each kind of
// work in equal parts of the step.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "rankwright/report/page/report_view.h"

namespace rankwright::report {

/// Returns null if the step was not simulated.
nlohmann::ordered_json make_timeline_report_json(const planner::PlanReport& report);

/// Returns null if no trace was given.
nlohmann::ordered_json make_measured_report_json(const planner::PlanReport& report);

}  // namespace rankwright::report
