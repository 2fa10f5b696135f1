// Calls: appends the steps of a body, computation and collectives. It determines the group and the
// bytes of each call and omits collectives over groups of one rank. The order of the calls is
// decided by body.h and steps.h.
#pragma once

#include <array>

#include "rankwright/plan/shares.h"
#include "rankwright/program/program.h"

namespace rankwright::program {

/// Collects the steps of one body at a time; take() returns them and starts the next body.
class Calls {
 public:
  explicit Calls(const plan::TrainingConfig& config);

  void compute(Part part);
  void call(plan::TrafficKind kind, plan::Op op, mesh::GroupKind group, Bytes bytes,
            bool beside = false);

  /// Adds the collectives over the data-parallel ranks, dense and expert parameters separately
  /// (T11 to T13). `reduce` reduces gradients, with hybrid sharding over the shards and then over
  /// their replicas; `gather` gathers parameters, `gather_adapters` those of LoRA with ZeRO-3.
  void reduce(const plan::Share& parameters);
  void gather(const plan::Share& parameters, bool beside);
  void gather_adapters(const plan::Share& adapters, bool beside);

  Body take();

  // Recorded in all steps that are added from now on.
  i64 layer = -1;
  bool again = false;

 private:
  mesh::GroupKind data_group() const;
  void gather(const plan::Share& parameters, double each, bool beside);

  const plan::TrainingConfig& config_;
  std::array<i64, mesh::kGroupKinds> sizes_{};
  Body body_{};
};

/// Calls visit(bucket) for each gradient bucket of a chunk: first the bucket of its own (`apart`),
/// then dense and then expert parameters in buckets of `bucket` elements. The last bucket of each
/// kind may be smaller.
template <class Visit>
void for_each_bucket(const plan::Holding& held, i64 bucket, Visit visit) {
  if (held.apart > 0) visit(plan::Share{.dense = held.apart});
  for (i64 left = held.share.dense - held.apart; left > 0; left -= bucket)
    visit(plan::Share{.dense = left < bucket ? left : bucket});
  for (i64 left = held.share.expert; left > 0; left -= bucket)
    visit(plan::Share{.expert = left < bucket ? left : bucket});
}

}  // namespace rankwright::program
