// The time of a collective on the levels of a cluster: the fastest available algorithm, with links
// shared by the groups that run at the same time (formulas C1 to C9). Constants are fitted to
// published measurements (validate/collectives.h). Overlap and traffic of other jobs are not
// considered here.
#pragma once

#include <optional>
#include <string_view>

#include "rankwright/base/units.h"
#include "rankwright/cluster/calibration.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/mesh/placement.h"
#include "rankwright/plan/traffic.h"

namespace rankwright::cost {

/// In the order in which they are tried; among equally fast ones the first is chosen.
enum class Algorithm : unsigned char { none, ring, hierarchical, tree, in_network, direct };
inline constexpr std::size_t kAlgorithms = std::size_t(Algorithm::direct) + 1;

std::string_view name(Algorithm);

/// The time of one collective call and its components.
struct CollectiveCost {
  Seconds time{};
  Algorithm algorithm = Algorithm::none;  // none: a group of one rank
  Seconds latency{};                      // of all steps, with the low-latency protocol
  Seconds wire{};                         // time of the bytes on the slowest link
  int slowest = -1;                       // the level of that link; -1 for a group of one rank
};

/// Estimates one call of `op` with `size` bytes (as nccl-tests counts them), issued at the same
/// time by all groups that `span` describes (C1):
///
///     T = floor + L + t + (ramp * L_in + 3 * L_out) * t / (t + 1.5 * L),    L = L_in + L_out
///
/// with L_in the latency of the steps on level 0, L_out on the levels outside, and t the time of
/// the bytes on the slowest link. Small messages use the low-latency protocol, large ones the
/// full-bandwidth protocol, whose steps take 1 + ramp times as long; the last term is the
/// transition between them. L and t are those of the fastest algorithm: ring (C2), hierarchical
/// (C3), tree (C4), in-network (C5). All-to-all (C6) and send (C7) are direct. CPUs use C9.
CollectiveCost estimate_collective_cost(plan::Op op, Bytes size, const mesh::Span& span,
                                        const cluster::Cluster& cluster,
                                        const cluster::Calibration& constants);

/// Estimates the call with one given algorithm; returns nullopt if that algorithm cannot run `op`
/// on the cluster.
std::optional<CollectiveCost> estimate_collective_cost(plan::Op op, Bytes size,
                                                       const mesh::Span& span,
                                                       const cluster::Cluster& cluster,
                                                       const cluster::Calibration& constants,
                                                       Algorithm algorithm);

Seconds estimate_collective_time(plan::Op op, Bytes size, const mesh::Span& span,
                                 const cluster::Cluster& cluster,
                                 const cluster::Calibration& constants);

/// Returns the span of the same groups if all members were inside one domain of the innermost
/// level, the best possible placement.
mesh::Span innermost(const mesh::Span& span);

/// Returns the span of the same groups while `kinds` kinds of traffic, including this one, load the
/// links of level `from` and of all levels outside it equally.
mesh::Span shared(mesh::Span span, i64 kinds, int from = 0);

}  // namespace rankwright::cost
