// Times of collectives on a cluster's levels: alpha-beta, hierarchical, with the links shared by
// the groups that run at the same time. A first model, every figure of it assumed: no message-size
// curve, no algorithm choice, no in-network reduction. Formulas C1 to C4.
#pragma once

#include "rankwright/base/units.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/mesh/placement.h"
#include "rankwright/plan/traffic.h"

namespace rankwright {

/// One call of `op` with `size` bytes (as nccl-tests counts it) by all groups that lie as `span`
/// says, at the same time. A ring (C1):
///
///     t  =  rounds * ( sum over levels k of (n_k - 1) * latency_k  +  max over k of moved_k /
///     share_k )
///
/// with n_k the domains that a group joins at level k, share_k a domain's uplink divided by the
/// groups that cross it, and moved_k what one group moves through it: size * (p - m)/p for
/// all-gather and reduce-scatter with m of the p members below the link, m times that for
/// all-to-all (C3), the message for a send (C4). All-reduce is two rounds, the others one. An
/// all-reduce may take a tree instead (C2), which pays log2(n_k) latencies and moves all of `size`.
Seconds collective_time(Op op, Bytes size, const Span& span, const Cluster& cluster);

/// The same groups if all their members stood inside one domain of the innermost level: what the
/// traffic would cost where it belongs.
Span innermost(const Span& span);

/// The level whose link decides the time, -1 for a group of one.
int slowest_level(Op op, Bytes size, const Span& span, const Cluster& cluster);

}  // namespace rankwright
