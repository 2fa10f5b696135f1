// The spans of a plan's groups on the cluster, found once per plan, and the times of collectives
// over them during a training step, where NICs reach less than alone (formula X2). The times come
// from cost/collective.h.
#pragma once

#include "rankwright/cluster/calibration.h"
#include "rankwright/cost/collective.h"
#include "rankwright/plan/plan.h"

namespace rankwright::cost {

/// The network spans of all group kinds of one plan.
class Links {
 public:
  /// Finds the spans of the groups that layers, sends and ZeRO use.
  Links(const plan::TrainingConfig& config, const cluster::Calibration& calibration);
  /// Returns links without any group: all times are 0.
  static Links none(const plan::TrainingConfig& config, const cluster::Calibration& calibration) {
    return Links(config.cluster, calibration);
  }
  /// Adds the span of another group kind if it is missing.
  void add(const plan::TrainingConfig& config, mesh::GroupKind kind);
  /// Overrides the span of one group kind.
  void set(mesh::GroupKind kind, const mesh::Span& span) { spans_[std::size_t(kind)] = span; }

  /// Returns the time of one call that all groups of the kind issue at the same time.
  Seconds time(plan::Op op, Bytes size, mesh::GroupKind kind) const;
  const mesh::Span& span(mesh::GroupKind kind) const { return spans_[std::size_t(kind)]; }

  /// Returns the time of such a call if the members on a node share one NIC.
  Seconds single_rail(plan::Op op, Bytes size, mesh::GroupKind kind) const;

  /// Returns the time of an all-to-all of `size` bytes of which `out` bytes cross to other nodes
  /// (each token at most once per node), with the fraction `shown` of the crossing time exposed.
  Seconds all_to_all(Bytes size, Bytes out, double shown, mesh::GroupKind kind) const;

 private:
  Links(const cluster::Cluster& cluster, const cluster::Calibration& calibration);

  const cluster::Cluster* cluster_;
  cluster::Calibration loaded_;  // with the bandwidth that a NIC reaches during a step
  std::array<mesh::Span, mesh::kGroupKinds> spans_{};
};

}  // namespace rankwright::cost
