#include "rankwright/cost/traffic_cost.h"

#include <algorithm>

#include "rankwright/catalog/catalog.h"

namespace rankwright::cost {

Bytes count_wire_bytes(plan::Op op, Bytes size, i64 ranks) {
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

/// Multiplies the sharers of each link by the number of mirror pairs that cross it: every member of
/// a pp group has a mirror rank, and at most min(members inside, members outside) pairs cross a
/// domain's link.
void count_pairs(mesh::Span& group) {
  for (std::size_t k = 0; k < cluster::kMaxLevels; ++k) {
    const i64 below = k == 0 ? 1 : group.inside[k - 1];
    group.sharers[k] *= std::max<i64>(1, std::min(below, group.size - below));
  }
}

}  // namespace

mesh::Span find_span(const plan::TrainingConfig& config, mesh::GroupKind kind) {
  const plan::Plan& plan = config.plan;
  mesh::Span found = span(make_group_shape(plan.meshes(), kind, plan.shards()), config.world,
                          plan.placement, config.cluster);
  if (kind == mesh::GroupKind::edges || kind == mesh::GroupKind::mirror) {
    // Two members of a pp group communicate, the farthest apart: they are in one domain only if the
    // whole group is.
    if (kind == mesh::GroupKind::mirror) count_pairs(found);
    for (std::size_t k = 0; k < cluster::kMaxLevels; ++k) {
      found.inside[k] = found.min[k] == found.size ? std::min<i64>(2, found.size) : 1;
      found.min[k] = found.inside[k];
    }
    found.size = std::min<i64>(2, found.size);
  }
  return found;
}

i64 count_groups_on_link(const cluster::Cluster& cluster, const mesh::Span& span, int level) {
  if (level < 0) return 0;
  const i64 crossing = span.sharers[std::size_t(level)];
  if (cluster.levels[std::size_t(level)].per == cluster::Level::Per::domain) return crossing;
  // Every device below has its own link, and a group uses the links of all its members there.
  return std::max<i64>(1, crossing / std::max<i64>(1, cluster.domain(level - 1)));
}

std::vector<TrafficCost> estimate_traffic(const plan::TrainingConfig& config, i64 pp_rank) {
  Links links(config, select_calibration(config));
  return estimate_traffic(config, pp_rank, links);
}

std::vector<TrafficCost> estimate_traffic(const plan::TrainingConfig& config, i64 pp_rank,
                                          Links& links) {
  std::vector<TrafficCost> rows;
  for (const plan::Traffic& calls : list_calls(config, pp_rank)) {
    links.add(config, calls.group);
    const mesh::Span& span = links.span(calls.group);
    const CollectiveCost each = links.cost(calls.kind, calls.op, calls.bytes(), calls.group);
    const Seconds inner = links.innermost_time(calls.op, calls.bytes(), calls.group);
    auto row = std::find_if(rows.begin(), rows.end(), [&](const TrafficCost& other) {
      return other.traffic.kind == calls.kind;
    });
    const double count = double(calls.calls);
    const Bytes wire = count * count_wire_bytes(calls.op, calls.bytes(), span.size);
    if (row != rows.end()) {
      row->traffic.calls += calls.calls;
      row->traffic.total += calls.total;
      row->wire += wire;
      row->total += count * each.time;
      row->innermost += count * inner;
      continue;
    }
    rows.push_back({.traffic = calls,
                    .span = span,
                    .level = span.level,
                    .slowest = each.slowest,
                    .algorithm = each.algorithm,
                    .sharers = count_groups_on_link(config.cluster, span, span.level),
                    .wire = wire,
                    .total = count * each.time,
                    .innermost = count * inner});
  }
  return rows;
}

}  // namespace rankwright::cost
