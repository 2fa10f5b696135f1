// Draws the cluster with every rank on its device: nested domains linked to a bar of the level
// above, devices colored by pp rank, and a list of where each kind of group is placed. Equal
// domains are drawn once, with their number (rank_map.h).
#pragma once

#include <string>

#include "rankwright/report/page/report_view.h"

namespace rankwright::report {

std::string draw_cluster_svg(const planner::PlanReport& report);

}  // namespace rankwright::report
