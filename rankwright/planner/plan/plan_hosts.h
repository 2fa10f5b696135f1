// Chooses how many hosts to use if some are excluded, and places ranks around the excluded ones.
// Odd host counts rarely factor into degrees, so the search goes down from all remaining hosts.
#pragma once

#include "rankwright/planner/plan/plan_answer.h"
#include "rankwright/planner/plan/plan_request.h"

namespace rankwright::planner {

/// Returns the number of hosts of the fastest plan. Tries all counts in descending order until even
/// perfect scaling could not be faster. If hosts stay idle, also looks for a near batch that uses
/// more of them.
HostUse choose_hosts(const search::Problem& problem, const ExcludedHosts& excluded,
                     const search::SearchOptions& options);

/// Returns the placement on the first hosts that are not excluded; block placement if only the
/// number of excluded hosts is known.
mesh::Placement place_around(const HostUse& hosts, const cluster::Cluster& cluster);

/// Moves every plan of the answer to `placement` and estimates it again: skipped hosts change which
/// levels groups span.
void apply_placement(PlanAnswer& answer, const mesh::Placement& placement);

}  // namespace rankwright::planner
