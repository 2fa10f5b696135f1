#include "rankwright/cost/links.h"

#include <algorithm>

#include "rankwright/cost/traffic_cost.h"

namespace rankwright::cost {

Links::Links(const cluster::Cluster& cluster, const cluster::Calibration& calibration)
    : cluster_(&cluster), loaded_(calibration) {
  loaded_[cluster::Constant::nic_share] *= calibration[cluster::Constant::nic_training];
}

Links::Links(const plan::TrainingConfig& config, const cluster::Calibration& calibration)
    : Links(config.cluster, calibration) {
  const plan::Plan& plan = config.plan;
  const auto find = [&](mesh::GroupKind kind, i64 size) {
    if (size > 1) spans_[std::size_t(kind)] = find_span(config, kind);
  };
  find(mesh::GroupKind::tp, plan.tp);
  find(mesh::GroupKind::cp, plan.cp);
  find(mesh::GroupKind::pp, plan.pp);
  find(mesh::GroupKind::shard, plan.shards());
  find(mesh::GroupKind::replicate, plan.data_ranks() / plan.shards());
  if (plan.mirrored()) find(mesh::GroupKind::mirror, plan.pp);
  if (config.model.tied) find(mesh::GroupKind::edges, plan.pp);
  if (!config.model.sparse()) return;
  find(mesh::GroupKind::ep, plan.ep);
  find(mesh::GroupKind::etp, plan.etp);
  find(mesh::GroupKind::edp, plan.expert_dp());
}

void Links::add(const plan::TrainingConfig& config, mesh::GroupKind kind) {
  mesh::Span& span = spans_[std::size_t(kind)];
  if (span.size <= 1) span = find_span(config, kind);
}

Seconds Links::time(plan::Op op, Bytes size, mesh::GroupKind kind) const {
  const mesh::Span& span = spans_[std::size_t(kind)];
  if (span.size <= 1) return {};
  return estimate_collective_time(op, size, span, *cluster_, loaded_);
}

Seconds Links::single_rail(plan::Op op, Bytes size, mesh::GroupKind kind) const {
  const mesh::Span& span = spans_[std::size_t(kind)];
  if (span.size <= 1) return {};
  // The members on a node share one NIC, as if each were a separate group.
  return estimate_collective_time(op, size, shared(span, span.inside[0], 1), *cluster_, loaded_);
}

Seconds Links::all_to_all(Bytes size, Bytes out, double shown, mesh::GroupKind kind) const {
  const mesh::Span& span = spans_[std::size_t(kind)];
  if (span.size <= 1) return {};
  const Seconds inside =
      estimate_collective_time(plan::Op::all_to_all, size, innermost(span), *cluster_, loaded_);
  if (span.level <= 0) return inside;
  return std::max(inside, shown * estimate_collective_time(plan::Op::all_to_all, out, span,
                                                           *cluster_, loaded_));
}

}  // namespace rankwright::cost
