// A simulated step as JSON: schema rankwright.timeline/1. Times are in seconds. Contains every pp
// rank, even those that a drawing leaves out; individual cells are in traces (trace.h).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "rankwright/planner/timeline/timeline_summary.h"

namespace rankwright::report {

nlohmann::ordered_json make_timeline_document(const planner::SimulatedStep& simulated,
                                              const planner::TimelineSummary& summary,
                                              std::string_view heading);
std::string make_timeline_json(const planner::SimulatedStep& simulated,
                               const planner::TimelineSummary& summary, std::string_view heading);

}  // namespace rankwright::report
