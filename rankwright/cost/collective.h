// What a collective takes on a cluster's levels: the fastest of the algorithms that it may run,
// with the links shared by the groups that run at the same time. Constants are fitted to published
// measurements (validate/collectives.h). Not here: what overlap hides, and links that carry
// traffic of other jobs. Formulas C1 to C8.
#pragma once

#include <optional>
#include <string_view>

#include "rankwright/base/units.h"
#include "rankwright/cluster/calibration.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/mesh/placement.h"
#include "rankwright/plan/traffic.h"

namespace rankwright::cost {

/// In the order in which they are tried: of equally fast ones the first is taken.
enum class Algorithm : unsigned char { none, ring, hierarchical, tree, in_network, direct };
inline constexpr std::size_t kAlgorithms = std::size_t(Algorithm::direct) + 1;

std::string_view name(Algorithm);

struct CollectiveCost {
  Seconds time{};
  Algorithm algorithm = Algorithm::none;  // none: a group of one
  Seconds latency{};                      // of the steps, with the low-latency protocol
  Seconds wire{};                         // of the bytes on the slowest link
  int slowest = -1;                       // the level of that link; -1 for a group of one
};

/// One call of `op` with `size` bytes (as nccl-tests counts it) by all groups that lie as `span`
/// says, at the same time (C1):
///
///     T = floor + L + t + (ramp * L_in + 3 * L_out) * t / (t + 1.5 * L),    L = L_in + L_out
///
/// with L_in the latency of the steps on level 0, L_out on the levels outside, t the bytes on the
/// slowest link. Small messages pass with the protocol of low latency, large ones with that of full
/// bandwidth, whose step costs 1 + ramp as much: the last term is the change from one to the other.
/// L and t are those of the fastest algorithm: ring (C2), hierarchical (C3), tree (C4), in-network
/// (C5); all-to-all (C6) and send (C7) go directly.
CollectiveCost collective_cost(plan::Op op, Bytes size, const mesh::Span& span,
                               const cluster::Cluster& cluster,
                               const cluster::Calibration& constants);

/// The same by one algorithm; nothing where it cannot do it on that cluster.
std::optional<CollectiveCost> collective_cost(plan::Op op, Bytes size, const mesh::Span& span,
                                              const cluster::Cluster& cluster,
                                              const cluster::Calibration& constants,
                                              Algorithm algorithm);

Seconds collective_time(plan::Op op, Bytes size, const mesh::Span& span,
                        const cluster::Cluster& cluster, const cluster::Calibration& constants);

/// The same groups if all their members stood inside one domain of the innermost level: what the
/// traffic would cost where it belongs.
mesh::Span innermost(const mesh::Span& span);

/// The same groups while `kinds` kinds of traffic, itself one of them, load the links of `from` and
/// of all levels outside it alike.
mesh::Span shared(mesh::Span span, i64 kinds, int from = 0);

}  // namespace rankwright::cost
