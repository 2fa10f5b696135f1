// The spans of a plan's groups on the cluster, found once per plan, and the times of collectives
// over them during a training step, where NICs reach less than alone (formula X2). The times come
// from cost/collective.h.
#pragma once

#include <utility>
#include <vector>

#include "rankwright/cluster/calibration.h"
#include "rankwright/cost/collective.h"
#include "rankwright/plan/plan.h"
#include "rankwright/plan/traffic.h"

namespace rankwright::cost {

/// The multiprocessors that Megatron-LM gives to DeepEP (moe_deepep_num_sms).
inline constexpr double kDeepEpProcessors = 20;

/// Returns how many of `places` equal places (ranks or nodes) hold an expert of a token, if each of
/// its `copies` experts is anywhere; with group-limited routing only among the places of
/// `active_groups` of `groups` groups (0: not limited). Requires: places >= 1, copies >= 1.
double count_reached_places(double places, i64 copies, i64 groups = 0, i64 active_groups = 0);

/// Spans that are known by the shape of their groups, of configs that differ in axis order, degrees
/// or sharding. All have the same world, placement and cluster.
class SpanCache {
 public:
  mesh::Span find(const plan::TrainingConfig& config, mesh::GroupKind kind);

 private:
  std::vector<std::pair<mesh::GroupShape, mesh::Span>> known_{};
};

/// The network spans of all group kinds of one plan.
class Links {
 public:
  /// Finds the spans of the groups that layers, sends and ZeRO use, in `known` if it is not null.
  Links(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
        SpanCache* known = nullptr);
  /// Returns links without any group: all times are 0.
  static Links none(const plan::TrainingConfig& config, const cluster::Calibration& calibration) {
    return Links(config.cluster, calibration);
  }
  /// Adds the span of another group kind if it is missing.
  void add(const plan::TrainingConfig& config, mesh::GroupKind kind);
  /// Overrides the span of one group kind.
  void set(mesh::GroupKind kind, const mesh::Span& span) { spans_[std::size_t(kind)] = span; }

  /// Returns the cost of one call that all groups of the kind issue at the same time. Every time of
  /// a call comes from here: the step, the communication table, the simulated Program.
  CollectiveCost cost(plan::TrafficKind kind, plan::Op op, Bytes size, mesh::GroupKind group) const;
  Seconds time(plan::TrafficKind kind, plan::Op op, Bytes size, mesh::GroupKind group) const {
    return cost(kind, op, size, group).time;
  }
  /// Returns the time of the call if every group were inside one innermost domain.
  Seconds innermost_time(plan::Op op, Bytes size, mesh::GroupKind group) const;
  const mesh::Span& span(mesh::GroupKind kind) const { return spans_[std::size_t(kind)]; }

 private:
  Links(const cluster::Cluster& cluster, const cluster::Calibration& calibration);

  /// Returns the cost of a dispatch or combine that sends each token once per node (L7).
  CollectiveCost deduplicated_cost(Bytes size, const mesh::Span& span) const;

  const cluster::Cluster* cluster_;
  cluster::Calibration loaded_;  // with the bandwidth that a NIC reaches during a step
  std::array<mesh::Span, mesh::kGroupKinds> spans_{};
  bool single_rail_ = false;  // data-parallel groups use one NIC per node
  Seconds dispatch_{};        // fixed time of a dispatch or combine
  Seconds message_{};         // time that the host takes for each message, if it sends them
  BytesPerSecond copied_{};   // by the multiprocessors of the dispatcher; 0: links limit it
  Bytes token_{};             // hidden state of one token
  i64 groups_ = 0, active_groups_ = 0;  // of group-limited routing; 0 without
  i64 copies_ = 0;  // experts per token, if the dispatcher sends each token once per node; else 0
};

}  // namespace rankwright::cost
