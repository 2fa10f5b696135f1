// Excluded hosts: how many of the others to use, and where ranks go around the holes. Odd numbers
// of hosts rarely factor into degrees, so the search goes down from all of them.
#pragma once

#include "rankwright/planner/plan/plan_answer.h"
#include "rankwright/planner/plan/plan_request.h"

namespace rankwright::planner {

/// Returns how many hosts to use: those of the fastest plan, over all numbers down to where even
/// perfect scaling could not win.
HostUse choose_hosts(const search::Problem& problem, const ExcludedHosts& excluded,
                     const search::SearchOptions& options);

/// Returns the placement on the first hosts that are not excluded; block where only their number is
/// known.
mesh::Placement place_around(const HostUse& hosts, const cluster::Cluster& cluster);

/// Moves every plan of the answer to `placement` and estimates it again: holes change which levels
/// groups span.
void apply_placement(PlanAnswer& answer, const mesh::Placement& placement);

}  // namespace rankwright::planner
