#include "rankwright/cost/faults/slow_link.h"

#include <algorithm>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/cost/faults/straggler.h"
#include "rankwright/cost/item_traffic.h"
#include "rankwright/plan/constraint_violation.h"

namespace rankwright::cost {
namespace {

/// The number of axis orders tried if one evaluation takes long.
constexpr i64 kFewOrders = 2;

/// Returns whether the groups have members in more than one domain below one of these levels.
bool crosses(const mesh::Span& span, std::span<const SlowLink> links) {
  return std::any_of(links.begin(), links.end(), [&](const SlowLink& link) {
    const std::size_t level = std::size_t(link.level);
    return span.inside[level] > (level == 0 ? 1 : span.min[level - 1]);
  });
}

/// Lists the collectives that cross a slow link, each on the pp rank that `explain` lists.
std::vector<LinkLoss::Crossing> find_crossings(const plan::TrainingConfig& before,
                                               const plan::TrainingConfig& after,
                                               std::span<const SlowLink> links) {
  Links slowed(after, select_calibration(after));
  std::vector<LinkLoss::Crossing> rows;
  for (const LongestTraffic& one : list_longest_traffic(before)) {
    if (!crosses(one.cost.span, links)) continue;
    const plan::Traffic& traffic = one.cost.traffic;
    LinkLoss::Crossing row{traffic.kind,       traffic.op,    traffic.group,  one.pp_rank,
                           one.cost.span.size, traffic.calls, one.cost.total, one.cost.total};
    for (const TrafficCost& now : estimate_traffic(after, one.pp_rank, slowed))
      if (now.traffic.kind == traffic.kind) row.after = now.total;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

cluster::Cluster with_links(cluster::Cluster cluster, std::span<const SlowLink> links) {
  for (const SlowLink& link : links)
    cluster.levels[std::size_t(link.level)].bandwidth = link.bandwidth;
  return cluster;
}

std::vector<mesh::Order> list_distinct_orders(const plan::Plan& plan) {
  const mesh::MeshPair meshes = plan.meshes();
  std::vector<mesh::Axis> split, whole;
  for (const mesh::Axis axis : plan.order) {
    const bool alone = meshes.dense.degree(axis) == 1 && meshes.expert.degree(axis) == 1;
    (alone ? whole : split).push_back(axis);
  }
  std::vector<mesh::Order> orders{plan.order};
  const std::vector<mesh::Axis> own = split;
  std::sort(split.begin(), split.end());
  do {
    if (split == own) continue;
    mesh::Order order{};
    const auto end = std::copy(split.begin(), split.end(), order.begin());
    std::copy(whole.begin(), whole.end(), end);
    orders.push_back(order);
  } while (std::next_permutation(split.begin(), split.end()));
  return orders;
}

LinkLoss estimate_link_loss(const plan::TrainingConfig& config,
                            const cluster::Calibration& calibration,
                            std::span<const SlowLink> links) {
  plan::TrainingConfig slow = config;
  slow.cluster = with_links(config.cluster, links);
  LinkLoss out{.links = {links.begin(), links.end()},
               .before = estimate_closely(config, calibration).step,
               .after = estimate_closely(slow, calibration).step};
  out.crossings = find_crossings(config, slow, links);
  // Orders are compared in closed form; the step of the best one is estimated as closely as others.
  out.best = {config.plan.order, estimate_step_time(slow, calibration).total()};
  std::vector<mesh::Order> orders = list_distinct_orders(config.plan);
  if (is_slow_to_evaluate(config) && i64(orders.size()) > kFewOrders)
    orders.resize(std::size_t(kFewOrders));
  for (const mesh::Order& order : orders) {
    slow.plan.order = order;
    if (find_first_violation(slow)) continue;
    ++out.tried;
    const Seconds after = estimate_step_time(slow, calibration).total();
    if (after < out.best.after) out.best = {order, after};
  }
  slow.plan.order = out.best.order;
  out.best.after = estimate_closely(slow, calibration).time();
  if (out.best.after >= (1 - kMinMitigationGain) * out.after.total())
    out.best = {config.plan.order, out.after.total()};
  return out;
}

}  // namespace rankwright::cost
