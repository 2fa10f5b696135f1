// How a plan's groups lie on the cluster, and what its collectives take there in the middle of a
// step: spans are found once a plan, times by cost/collective.h. Formula C7.
#pragma once

#include "rankwright/cluster/calibration.h"
#include "rankwright/cost/collective.h"
#include "rankwright/plan/plan.h"

namespace rankwright::cost {

class Links {
 public:
  /// The groups that layers, sends and ZeRO use.
  Links(const plan::TrainingConfig& config, const cluster::Calibration& calibration);
  /// None: nothing is sent, all times are 0.
  static Links none(const plan::TrainingConfig& config, const cluster::Calibration& calibration) {
    return Links(config.cluster, calibration);
  }
  /// Another kind, where it was not among them.
  void add(const plan::TrainingConfig& config, mesh::GroupKind kind);
  /// Who knows how a kind lies says so.
  void set(mesh::GroupKind kind, const mesh::Span& span) { spans_[std::size_t(kind)] = span; }

  /// One call by all groups of the kind at the same time.
  Seconds time(plan::Op op, Bytes size, mesh::GroupKind kind) const;
  const mesh::Span& span(mesh::GroupKind kind) const { return spans_[std::size_t(kind)]; }

  /// The same where a node's members share one NIC.
  Seconds single_rail(plan::Op op, Bytes size, mesh::GroupKind kind) const;

  /// An all-to-all of `size` bytes of which `out` cross to other nodes, a token once a node.
  Seconds all_to_all(Bytes size, Bytes out, double shown, mesh::GroupKind kind) const;

 private:
  Links(const cluster::Cluster& cluster, const cluster::Calibration& calibration);

  const cluster::Cluster* cluster_;
  cluster::Calibration loaded_;  // what a NIC reaches in the middle of a step
  std::array<mesh::Span, mesh::kGroupKinds> spans_{};
};

}  // namespace rankwright::cost
