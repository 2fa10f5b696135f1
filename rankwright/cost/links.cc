#include "rankwright/cost/links.h"

#include <algorithm>
#include <cmath>

#include "rankwright/cost/traffic_cost.h"

namespace rankwright::cost {
namespace {

cluster::Constant find_dispatch_constant(plan::Dispatcher dispatcher) {
  switch (dispatcher) {
    case plan::Dispatcher::alltoall:
      break;
    case plan::Dispatcher::deepep:
      return cluster::Constant::dispatch_deepep;
    case plan::Dispatcher::hybridep:
      return cluster::Constant::dispatch_hybridep;
    case plan::Dispatcher::uccl:
      return cluster::Constant::dispatch_uccl;
  }
  return cluster::Constant::dispatch_alltoall;
}

/// Returns the time that UCCL-EP's threads take per message. EFA keeps no order of messages, so
/// threads on the host restore it; other NICs need none of that.
Seconds find_message_time(const plan::TrainingConfig& config,
                          const cluster::Calibration& calibration) {
  if (config.plan.dispatcher != plan::Dispatcher::uccl) return {};
  const std::vector<cluster::Level>& levels = config.cluster.levels;
  if (std::none_of(levels.begin(), levels.end(),
                   [](const cluster::Level& level) { return level.name == "efa"; }))
    return {};
  const bool blackwell = config.cluster.device.generation == "blackwell";
  return calibration[blackwell ? cluster::Constant::message_uccl_blackwell
                               : cluster::Constant::message_uccl] *
         1.0_us;
}

}  // namespace

double count_reached_places(double places, i64 copies, i64 groups, i64 active_groups) {
  if (groups > 0 && active_groups > 0) {
    // Experts of a few groups are on no more places than the groups are.
    const double per_place = std::max(1.0, double(groups) / places);
    const double share = std::min(1.0, double(active_groups) / double(groups));
    places = std::max(1.0, std::min(places, double(groups)) * (1 - std::pow(1 - share, per_place)));
  }
  return places * (1 - std::pow(1 - 1 / places, double(copies)));
}

Links::Links(const cluster::Cluster& cluster, const cluster::Calibration& calibration)
    : cluster_(&cluster), loaded_(calibration) {
  loaded_[cluster::Constant::nic_share] *= calibration[cluster::Constant::nic_training];
}

mesh::Span SpanCache::find(const plan::TrainingConfig& config, mesh::GroupKind kind) {
  // These two are not the span of their shape.
  if (kind == mesh::GroupKind::edges || kind == mesh::GroupKind::mirror)
    return find_span(config, kind);
  const mesh::GroupShape shape = make_group_shape(config.plan.meshes(), kind, config.plan.shards());
  for (const auto& [one, found] : known_)
    if (one.used == shape.used && std::equal(one.begin(), one.end(), shape.begin())) return found;
  return known_.emplace_back(shape, find_span(config, kind)).second;
}

Links::Links(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
             SpanCache* known)
    : Links(config.cluster, calibration) {
  const plan::Plan& plan = config.plan;
  single_rail_ = config.software.single_rail;
  if (!config.cluster.device.cpu())
    dispatch_ = calibration[find_dispatch_constant(plan.dispatcher)] * 1.0_us;
  message_ = find_message_time(config, calibration);
  if (plan.dispatcher == plan::Dispatcher::deepep)
    copied_ = kDeepEpProcessors * calibration[cluster::Constant::copy_deepep] * 1.0_GBps;
  token_ = bytes(config.model.hidden, config.job.activation_bytes());
  if (plan.dispatcher != plan::Dispatcher::alltoall)
    for (const model::LayerRun& run : config.model.runs) {
      const model::FeedForward& ffn = run.layer.ffn;
      if (ffn.active <= copies_) continue;
      copies_ = ffn.active;
      groups_ = ffn.groups;
      active_groups_ = ffn.active_groups;
    }
  const auto find = [&](mesh::GroupKind kind, i64 size) {
    if (size <= 1) return;
    spans_[std::size_t(kind)] =
        known != nullptr ? known->find(config, kind) : find_span(config, kind);
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
  if (kind == plan::TrafficKind::ep_all_to_all) {
    CollectiveCost cost = copies_ > 0
                              ? deduplicated_cost(size, span)
                              : estimate_collective_cost(op, size, span, *cluster_, loaded_);
    cost.time += dispatch_;
    cost.latency += dispatch_;
    return cost;
  }
  const bool data = group == mesh::GroupKind::shard || group == mesh::GroupKind::dp_cp;
  if (single_rail_ && data)  // the members on a node share one NIC, as if each were a group
    return estimate_collective_cost(op, size, shared(span, span.inside[0], 1), *cluster_, loaded_);
  return estimate_collective_cost(op, size, span, *cluster_, loaded_);
}

Seconds Links::innermost_time(plan::Op op, Bytes size, mesh::GroupKind group) const {
  const mesh::Span& span = spans_[std::size_t(group)];
  if (span.size <= 1) return {};
  const Seconds fixed = group == mesh::GroupKind::ep ? dispatch_ : Seconds{};
  return fixed + estimate_collective_time(op, size, cost::innermost(span), *cluster_, loaded_);
}

CollectiveCost Links::deduplicated_cost(Bytes size, const mesh::Span& span) const {
  const double copies = double(copies_);
  const double ranks = double(span.size);
  const Bytes received = count_reached_places(ranks, copies_) / copies * size;
  CollectiveCost inside =
      estimate_collective_cost(plan::Op::all_to_all, received, innermost(span), *cluster_, loaded_);
  // Multiprocessors copy a rank's own tokens too.
  if (copied_.value > 0) inside.time = std::max(inside.time, received / copied_);
  if (span.level == 0) return inside;
  // The rank with the fewest members on its node sends most to other nodes.
  const double nodes = ranks / double(std::max<i64>(1, span.min[0]));
  const double crossing = count_reached_places(nodes, copies_, groups_, active_groups_) / copies;
  CollectiveCost across =
      estimate_collective_cost(plan::Op::all_to_all, crossing * size, span, *cluster_, loaded_);
  across.time += crossing * (size / token_) * message_;
  // Tokens cross the network and are forwarded inside a node at the same time, but neither alone.
  const double a = across.time.value, b = inside.time.value;
  CollectiveCost both = a > b ? across : inside;
  both.time = {std::cbrt(a * a * a + b * b * b)};
  return both;
}

}  // namespace rankwright::cost
