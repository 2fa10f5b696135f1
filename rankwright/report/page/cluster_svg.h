// The cluster with every rank in its place: nested domains whose links run to a bar of the level
// above, devices coloured by pp rank, and in words which groups lie where. Domains that simulate
// the same part are one, with their number (rank_map.h).
#pragma once

#include <string>

#include "rankwright/report/page/report_view.h"

namespace rankwright::report {

std::string cluster_svg(const planner::PlanReport& report);

}  // namespace rankwright::report
