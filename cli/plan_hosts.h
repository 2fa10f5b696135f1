// Hosts that are out: how many of those that are left to use, and ranks placed around the holes.
// Numbers of hosts that are no round ones rarely factor, so the search goes down from all of them.
#pragma once

#include "cli/plan_flags.h"
#include "rankwright/report/plan_view.h"

namespace rankwright::cli {

/// How many hosts to use: those of the fastest plan, over all numbers down to where even perfect
/// scaling could not win. `used` is 0 where nothing fits on any.
HostsOut hosts_to_use(const Problem& problem, const Excluded& excluded,
                      const SearchOptions& options);

/// Ranks on the first hosts that are not out; block where nobody said which those are.
Placement placement_around(const HostsOut& out, const Cluster& cluster);

/// The same plans with their ranks placed so, priced again: holes change which levels groups span.
void place(PlanView& view, const Placement& placement);

}  // namespace rankwright::cli
