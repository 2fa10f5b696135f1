#include "rankwright/cost/priced.h"

#include <algorithm>

#include "rankwright/catalog/catalog.h"

namespace rankwright::cost {

Bytes wire_bytes(plan::Op op, Bytes size, i64 ranks) {
  const double others = double(ranks - 1) / double(ranks);
  switch (op) {
    case plan::Op::all_reduce:
      return 2 * (others * size);
    case plan::Op::all_gather:
    case plan::Op::reduce_scatter:
    case plan::Op::all_to_all:
      return others * size;
    case plan::Op::send_recv:
      return size;
  }
  return {};
}

namespace {

/// Every member of a pp group has a mirror: of those in one domain as many pairs cross its link as
/// there are mirrors outside for.
void count_pairs(mesh::Span& group) {
  for (std::size_t k = 0; k < cluster::kMaxLevels; ++k) {
    const i64 below = k == 0 ? 1 : group.inside[k - 1];
    group.sharers[k] *= std::max<i64>(1, std::min(below, group.size - below));
  }
}

}  // namespace

mesh::Span span_of(const plan::TrainingConfig& config, mesh::GroupKind kind) {
  const plan::Plan& plan = config.plan;
  mesh::Span lies = span(group_shape(plan.meshes(), kind, plan.shards()), config.world,
                         plan.placement, config.cluster);
  if (kind == mesh::GroupKind::edges || kind == mesh::GroupKind::mirror) {
    // Two of a pp group talk, the farthest apart: together only where the whole group is.
    if (kind == mesh::GroupKind::mirror) count_pairs(lies);
    for (std::size_t k = 0; k < cluster::kMaxLevels; ++k) {
      lies.inside[k] = lies.min[k] == lies.size ? std::min<i64>(2, lies.size) : 1;
      lies.min[k] = lies.inside[k];
    }
    lies.size = std::min<i64>(2, lies.size);
  }
  return lies;
}

i64 groups_on_link(const cluster::Cluster& cluster, const mesh::Span& span, int level) {
  if (level < 0) return 0;
  const i64 crossing = span.sharers[std::size_t(level)];
  if (cluster.levels[std::size_t(level)].per == cluster::Level::Per::domain) return crossing;
  // Every device below has a link of its own; a group uses those of all its members there.
  return std::max<i64>(1, crossing / std::max<i64>(1, cluster.domain(level - 1)));
}

std::vector<PricedTraffic> priced(const plan::TrainingConfig& config, i64 pp_rank) {
  SpanTable spans;
  return priced(config, pp_rank, spans);
}

std::vector<PricedTraffic> priced(const plan::TrainingConfig& config, i64 pp_rank,
                                  SpanTable& spans) {
  std::vector<PricedTraffic> rows;
  for (const plan::Traffic& t : traffic(config, pp_rank)) {
    std::optional<mesh::Span>& span = spans[std::size_t(t.group)];
    if (!span) span = span_of(config, t.group);
    const CollectiveCost each =
        collective_cost(t.op, t.bytes(), *span, config.cluster, calibration(config));
    const Seconds inner =
        collective_time(t.op, t.bytes(), innermost(*span), config.cluster, calibration(config));
    rows.push_back({.traffic = t,
                    .span = *span,
                    .level = span->level,
                    .slowest = each.slowest,
                    .algorithm = each.algorithm,
                    .sharers = groups_on_link(config.cluster, *span, span->level),
                    .wire = t.calls * wire_bytes(t.op, t.bytes(), span->size),
                    .total = t.calls * each.time,
                    .innermost = t.calls * inner});
  }
  return rows;
}

}  // namespace rankwright::cost
