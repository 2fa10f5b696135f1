// How a plan's groups lie on the cluster, and what its collectives take there in the middle of a
// step: spans are found once a plan, times by cost/collective.h. Formula C7.
#pragma once

#include "rankwright/cluster/calibration.h"
#include "rankwright/cost/collective.h"
#include "rankwright/plan/plan.h"

namespace rankwright {

class Links {
 public:
  /// The groups that layers, sends and ZeRO use.
  Links(const TrainingConfig& config, const Calibration& calibration);
  /// None: nothing is sent, all times are 0.
  static Links none(const TrainingConfig& config, const Calibration& calibration) {
    return Links(config.cluster, calibration);
  }
  /// Another kind, where it was not among them.
  void add(const TrainingConfig& config, GroupKind kind);
  /// Who knows how a kind lies says so.
  void set(GroupKind kind, const Span& span) { spans_[std::size_t(kind)] = span; }

  /// One call by all groups of the kind at the same time.
  Seconds time(Op op, Bytes size, GroupKind kind) const;
  const Span& span(GroupKind kind) const { return spans_[std::size_t(kind)]; }

  /// The same where a node's members share one NIC.
  Seconds single_rail(Op op, Bytes size, GroupKind kind) const;

  /// An all-to-all of `size` bytes of which `out` cross to other nodes, a token once a node.
  Seconds all_to_all(Bytes size, Bytes out, double shown, GroupKind kind) const;

 private:
  Links(const Cluster& cluster, const Calibration& calibration);

  const Cluster* cluster_;
  Calibration loaded_;  // what a NIC reaches in the middle of a step
  std::array<Span, kGroupKinds> spans_{};
};

}  // namespace rankwright
