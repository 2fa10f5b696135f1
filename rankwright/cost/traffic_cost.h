// Traffic with its links and times: the level that each collective crosses, the number of groups
// that share the link, and the time of all calls (Links::cost), without overlap. step.h decides
// which part is exposed.
#pragma once

#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/cost/links.h"
#include "rankwright/mesh/placement.h"
#include "rankwright/plan/traffic.h"

namespace rankwright::cost {

/// One row of Traffic with its placement and time.
struct TrafficCost {
  plan::Traffic traffic;
  mesh::Span span;
  int level = -1;    // the outermost level that it crosses; -1 for a group of one rank
  int slowest = -1;  // the level whose link determines the time
  Algorithm algorithm = Algorithm::none;
  i64 sharers = 1;      // groups that share one link of `level` (groups_on_link)
  Bytes wire{};         // sent by one rank in all calls
  Seconds total{};      // of all calls, one after another
  Seconds innermost{};  // of all calls if every group were inside one innermost domain
};

/// Returns the traffic of the ranks of `pp_rank`. `links`, those of the config, are equal for all
/// pp ranks. Requires: the config has no constraint violation.
std::vector<TrafficCost> estimate_traffic(const plan::TrainingConfig& config, i64 pp_rank);
std::vector<TrafficCost> estimate_traffic(const plan::TrainingConfig& config, i64 pp_rank,
                                          Links& links);

/// Returns the bytes that one rank sends in one call (C8).
Bytes count_wire_bytes(plan::Op op, Bytes size, i64 ranks);

/// Returns the span of the groups of `kind` on the cluster.
mesh::Span find_span(const plan::TrainingConfig& config, mesh::GroupKind kind);

/// Returns the number of groups that share one link of `level`: the NIC of a device if each device
/// has one, else the link of the domain.
i64 count_groups_on_link(const cluster::Cluster& cluster, const mesh::Span& span, int level);

}  // namespace rankwright::cost
