// Calls: writes the steps of a body one after another, computation and collectives. It knows which
// group and how many bytes a call has, and leaves out what a group of one does not send. In which
// order they come is body.h and steps.h.
#pragma once

#include <array>

#include "rankwright/plan/shares.h"
#include "rankwright/program/program.h"

namespace rankwright::program {

class Calls {
 public:
  explicit Calls(const plan::TrainingConfig& config);

  void compute(Part part);
  void call(plan::TrafficKind kind, plan::Op op, mesh::GroupKind group, Bytes bytes,
            bool beside = false);

  /// Over the data ranks, dense and expert parameters apart: gradients are reduced, over hybrid
  /// shards and then their replicas; parameters are gathered. T11 to T13.
  void reduce(const plan::Share& parameters);
  void gather(const plan::Share& parameters, bool beside);

  Body take();

  // Of the steps that follow.
  i64 layer = -1;
  bool again = false;

 private:
  mesh::GroupKind data_group() const;

  const plan::TrainingConfig& config_;
  std::array<i64, mesh::kGroupKinds> sizes_{};
  Body body_{};
};

/// What a chunk holds in pieces: what is apart first, then of one bucket each, the last of each
/// kind smaller: visit(piece).
template <class Visit>
void for_each_bucket(const plan::Holding& held, i64 bucket, Visit visit) {
  if (held.apart > 0) visit(plan::Share{.dense = held.apart});
  for (i64 left = held.share.dense - held.apart; left > 0; left -= bucket)
    visit(plan::Share{.dense = left < bucket ? left : bucket});
  for (i64 left = held.share.expert; left > 0; left -= bucket)
    visit(plan::Share{.expert = left < bucket ? left : bucket});
}

}  // namespace rankwright::program
