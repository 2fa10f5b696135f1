// A played step for machines: schema rankwright.timeline/1. Times are in seconds. Every pp rank is
// in it, also those that a drawing leaves out; single cells are in traces (trace.h).
#pragma once

#include <string>

#include "rankwright/report/timeline_summary.h"

namespace rankwright {

std::string timeline_json(const Played& played, const TimelineSummary& summary,
                          std::string_view headline);

}  // namespace rankwright
