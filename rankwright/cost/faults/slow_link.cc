#include "rankwright/cost/faults/slow_link.h"

#include <algorithm>

#include "rankwright/cost/estimate.h"
#include "rankwright/cost/faults/straggler.h"
#include "rankwright/cost/traffic_cost.h"
#include "rankwright/plan/constraint_violation.h"

namespace rankwright::cost {
namespace {

constexpr double kMinOrderGain = 1e-3;  // fraction of a step; a smaller gain is not worth a change

/// The number of axis orders tried if one evaluation takes long.
constexpr i64 kFewOrders = 2;

/// Returns whether the groups have members in more than one domain below one of these levels.
bool crosses(const mesh::Span& span, std::span<const SlowLink> links) {
  return std::any_of(links.begin(), links.end(), [&](const SlowLink& link) {
    const std::size_t level = std::size_t(link.level);
    return span.inside[level] > (level == 0 ? 1 : span.min[level - 1]);
  });
}

std::vector<LinkLoss::Crossing> find_crossings(const plan::TrainingConfig& before,
                                               const plan::TrainingConfig& after, i64 pp_rank,
                                               std::span<const SlowLink> links) {
  const std::vector<TrafficCost> was = estimate_traffic(before, pp_rank),
                                 is = estimate_traffic(after, pp_rank);
  std::vector<LinkLoss::Crossing> rows;
  for (std::size_t k = 0; k < was.size() && k < is.size(); ++k) {
    const plan::Traffic& traffic = was[k].traffic;
    if (!crosses(was[k].span, links)) continue;
    rows.push_back({traffic.kind, traffic.op, traffic.group, was[k].span.size, traffic.calls,
                    was[k].total, is[k].total});
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
  // A pp rank in the middle sends in both directions; the first and the last have one neighbor.
  const i64 pp = config.plan.pp;
  const i64 busy = pp > 2 ? std::clamp<i64>(out.after.slowest, 1, pp - 2) : out.after.slowest;
  out.crossings = find_crossings(config, slow, busy, links);
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
  if (out.best.after >= (1 - kMinOrderGain) * out.after.total())
    out.best = {config.plan.order, out.after.total()};
  return out;
}

}  // namespace rankwright::cost
