// Traffic with its links and times: which level each collective crosses, who shares the link, what
// it takes with the shipped constants. Times add up calls as if nothing overlapped; what is hidden
// is decided elsewhere.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/cost/collective.h"
#include "rankwright/mesh/placement.h"
#include "rankwright/plan/traffic.h"

namespace rankwright::cost {

struct PricedTraffic {
  plan::Traffic traffic;
  mesh::Span span;
  int level = -1;    // the outermost level that it crosses; -1 for a group of one
  int slowest = -1;  // the level whose link decides the time
  Algorithm algorithm = Algorithm::none;
  i64 sharers = 1;  // groups on one link of `level`: on a device's own, or on what a domain shares
  Bytes wire{};     // that one rank sends in all calls
  Seconds total{};  // of all calls, one after another
  Seconds innermost{};  // the same if every group stood inside one innermost domain
};

/// Spans that were computed already, by group kind: they are the same for every pp rank.
using SpanTable = std::array<std::optional<mesh::Span>, mesh::kGroupKinds>;

/// What the ranks of `pp_rank` send. The config has no violation.
std::vector<PricedTraffic> priced(const plan::TrainingConfig& config, i64 pp_rank);
std::vector<PricedTraffic> priced(const plan::TrainingConfig& config, i64 pp_rank,
                                  SpanTable& spans);

/// What one rank puts on the wire in one call (C8).
Bytes wire_bytes(plan::Op op, Bytes size, i64 ranks);

/// How the groups of `kind` lie.
mesh::Span span_of(const plan::TrainingConfig& config, mesh::GroupKind kind);

/// Groups that share one link of `level`: the NIC of a device where each has one, else the link of
/// the domain.
i64 groups_on_link(const cluster::Cluster& cluster, const mesh::Span& span, int level);

}  // namespace rankwright::cost
