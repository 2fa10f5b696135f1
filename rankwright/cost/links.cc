#include "rankwright/cost/links.h"

#include <algorithm>
#include <cmath>

#include "rankwright/cost/traffic_cost.h"

namespace rankwright::cost {

Links::Links(const cluster::Cluster& cluster, const cluster::Calibration& calibration)
    : cluster_(&cluster), loaded_(calibration) {
  loaded_[cluster::Constant::nic_share] *= calibration[cluster::Constant::nic_training];
}

Links::Links(const plan::TrainingConfig& config, const cluster::Calibration& calibration)
    : Links(config.cluster, calibration) {
  const plan::Plan& plan = config.plan;
  single_rail_ = config.software.single_rail;
  if (plan.dispatcher == plan::Dispatcher::deepep)
    for (const model::LayerRun& run : config.model.runs)
      copies_ = std::max(copies_, run.layer.ffn.active);
  const auto find = [&](mesh::GroupKind kind, i64 size) {
    if (size > 1) spans_[std::size_t(kind)] = find_span(config, kind);
  };
  find(mesh::GroupKind::tp, plan.tp);
  find(mesh::GroupKind::cp, plan.cp);
  find(mesh::GroupKind::pp, plan.pp);
  find(mesh::GroupKind::shard, plan.shards());
  if (plan.shards() == plan.data_ranks())  // without hybrid sharding both are the same groups
    spans_[std::size_t(mesh::GroupKind::dp_cp)] = spans_[std::size_t(mesh::GroupKind::shard)];
  else
    find(mesh::GroupKind::dp_cp, plan.data_ranks());
  find(mesh::GroupKind::model, plan.tp * plan.pp);
  find(mesh::GroupKind::world, config.world);
  find(mesh::GroupKind::replicate, plan.data_ranks() / plan.shards());
  if (plan.mirrored()) find(mesh::GroupKind::mirror, plan.pp);
  if (config.model.tied || config.model.mtp_layers > 0) find(mesh::GroupKind::edges, plan.pp);
  if (!config.model.sparse()) return;
  find(mesh::GroupKind::ep, plan.ep);
  find(mesh::GroupKind::etp, plan.etp);
  find(mesh::GroupKind::edp, plan.expert_dp());
}

void Links::add(const plan::TrainingConfig& config, mesh::GroupKind kind) {
  mesh::Span& span = spans_[std::size_t(kind)];
  if (span.size <= 1) span = find_span(config, kind);
}

CollectiveCost Links::cost(plan::TrafficKind kind, plan::Op op, Bytes size,
                           mesh::GroupKind group) const {
  const mesh::Span& span = spans_[std::size_t(group)];
  if (span.size <= 1) return {};
  if (kind == plan::TrafficKind::ep_all_to_all && copies_ > 0 && span.level > 0)
    return deduplicated_cost(size, span);
  const bool data = group == mesh::GroupKind::shard || group == mesh::GroupKind::dp_cp;
  if (single_rail_ && data)  // the members on a node share one NIC, as if each were a group
    return estimate_collective_cost(op, size, shared(span, span.inside[0], 1), *cluster_, loaded_);
  return estimate_collective_cost(op, size, span, *cluster_, loaded_);
}

Seconds Links::innermost_time(plan::Op op, Bytes size, mesh::GroupKind group) const {
  const mesh::Span& span = spans_[std::size_t(group)];
  if (span.size <= 1) return {};
  return estimate_collective_time(op, size, cost::innermost(span), *cluster_, loaded_);
}

CollectiveCost Links::deduplicated_cost(Bytes size, const mesh::Span& span) const {
  // The rank with the fewest members on its node sends most to other nodes.
  const double nodes = double(span.size) / double(std::max<i64>(1, span.min[0]));
  const double copies = double(copies_);
  const double crossings = nodes * (1 - std::pow(1 - 1 / nodes, copies));
  const CollectiveCost inside =
      estimate_collective_cost(plan::Op::all_to_all, size, innermost(span), *cluster_, loaded_);
  const CollectiveCost across = estimate_collective_cost(
      plan::Op::all_to_all, crossings / copies * size, span, *cluster_, loaded_);
  return across.time > inside.time ? across : inside;
}

}  // namespace rankwright::cost
