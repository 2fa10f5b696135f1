#include "rankwright/cost/links.h"

#include <algorithm>

#include "rankwright/cost/priced.h"

namespace rankwright {

Links::Links(const Cluster& cluster, const Calibration& calibration)
    : cluster_(&cluster), loaded_(calibration) {
  loaded_[Constant::nic_share] *= calibration[Constant::nic_training];
}

Links::Links(const TrainingConfig& config, const Calibration& calibration)
    : Links(config.cluster, calibration) {
  const Plan& plan = config.plan;
  const auto find = [&](GroupKind kind, i64 size) {
    if (size > 1) spans_[std::size_t(kind)] = span_of(config, kind);
  };
  find(GroupKind::tp, plan.tp);
  find(GroupKind::cp, plan.cp);
  find(GroupKind::pp, plan.pp);
  find(GroupKind::shard, plan.shards());
  find(GroupKind::replicate, plan.data_ranks() / plan.shards());
  if (plan.mirrored()) find(GroupKind::mirror, plan.pp);
  if (config.model.tied) find(GroupKind::edges, plan.pp);
  if (!config.model.sparse()) return;
  find(GroupKind::ep, plan.ep);
  find(GroupKind::etp, plan.etp);
  find(GroupKind::edp, plan.expert_dp());
}

void Links::add(const TrainingConfig& config, GroupKind kind) {
  Span& span = spans_[std::size_t(kind)];
  if (span.size <= 1) span = span_of(config, kind);
}

Seconds Links::time(Op op, Bytes size, GroupKind kind) const {
  const Span& span = spans_[std::size_t(kind)];
  if (span.size <= 1) return {};
  return collective_time(op, size, span, *cluster_, loaded_);
}

Seconds Links::single_rail(Op op, Bytes size, GroupKind kind) const {
  const Span& span = spans_[std::size_t(kind)];
  if (span.size <= 1) return {};
  // A node's members share one NIC, as if each were a group of its own.
  return collective_time(op, size, shared(span, span.inside[0], 1), *cluster_, loaded_);
}

Seconds Links::all_to_all(Bytes size, Bytes out, double shown, GroupKind kind) const {
  const Span& span = spans_[std::size_t(kind)];
  if (span.size <= 1) return {};
  const Seconds inside = collective_time(Op::all_to_all, size, innermost(span), *cluster_, loaded_);
  if (span.level <= 0) return inside;
  return std::max(inside, shown * collective_time(Op::all_to_all, out, span, *cluster_, loaded_));
}

}  // namespace rankwright
