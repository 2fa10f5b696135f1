// Lower bounds of the memory of the candidates of a node. All are certain: no candidate takes less.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "rankwright/search/node_space.h"

namespace rankwright::search {

/// Computes lower bounds of the model states, sharded as far as the node's choices allow. The
/// fullest rank has at least those of the mean rank.
StateBounds bound_states(const NodeSpace& space);

/// Activations that one microbatch keeps on the device until its backward, for one choice of
/// recompute.
struct ActivationBytes {
  /// One layer of a run.
  struct Layer {
    Bytes kept{};
    Bytes saved{};  // if the layer is recomputed; 0 unless only some layers are
  };
  std::vector<Layer> runs{};  // as the runs of the model
  Bytes kept{};               // sum over all layers
  Bytes restored{};           // minimum that recomputation restores for one backward
  Bytes whole{};              // sum over all layers without recomputation
  Bytes max_saved{};          // by recomputing one layer
};
/// Computes the activations of a choice of recompute, with the microbatch and the sequence
/// parallelism of `config`, which is changed meanwhile. Afterwards it recomputes nothing.
ActivationBytes estimate_activations(const RecomputeChoice& choice, plan::TrainingConfig& config);

/// Activations of all layers before each layer.
struct ActivationSums {
  std::vector<Bytes> kept{};
  std::vector<Bytes> saved{};  // empty unless only some layers are recomputed
};
ActivationSums sum_activations(const NodeSpace& space, const RecomputeChoice& choice,
                               const ActivationBytes& activations);

/// Lower bounds of what a pp rank has besides its model states and saved activations, by ZeRO
/// stage: temporary tensors of a backward, gathered weights, buffers, libraries. `allocated` is
/// their part in tensors, `outside` that outside PyTorch's allocator.
struct OverheadBounds {
  struct Stage {
    Bytes allocated{}, reserve{}, outside{};
  };
  std::array<Stage, 4> any{};   // of any rank
  std::array<Stage, 4> with{};  // of a rank with one of StateBounds::heavy
  double reserve = 0;           // of the allocator per byte of activations
  Bytes allocator_limit{};      // its reserve never exceeds this
};
/// Computes the overhead with the microbatch and the sequence parallelism of `config`, which is
/// changed meanwhile and restored.
OverheadBounds bound_overhead(const NodeSpace& space, plan::TrainingConfig& config);

/// Lower bounds of the memory of the fullest pp rank by ZeRO stage; infinite for those that are
/// not searched.
using MemoryBounds = std::array<Bytes, 4>;

/// The memory bounds of one microbatch size with or without sequence parallelism, by choice of
/// recompute and schedule. Each is computed when it is first needed: most microbatch sizes are
/// pruned by their time, and one bound within the limit shows that a size may fit.
class BatchMemory {
 public:
  explicit BatchMemory(const NodeSpace& space);

  // These require that `config` has the microbatch and the sequence parallelism, and recomputes
  // nothing. It is changed meanwhile and restored.

  /// Bounds the memory with any chunks and any stages.
  const MemoryBounds& bound(std::size_t recompute, pipeline::Schedule schedule,
                            plan::TrainingConfig& config);
  /// Returns whether any bound is within `limit`.
  bool may_fit(Bytes limit, plan::TrainingConfig& config);
  /// Returns the minimum of all bounds, which grows with the microbatch.
  Bytes min(plan::TrainingConfig& config);

  // These require that bound() was called with that choice of recompute and that schedule.

  const MemoryBounds& with(std::size_t recompute, pipeline::Schedule schedule) const {
    return *bounds_[index(recompute, schedule)];
  }
  const ActivationBytes& activations(std::size_t recompute) const {
    return *activations_[recompute];
  }
  const OverheadBounds& overhead() const { return *overhead_; }

 private:
  static std::size_t index(std::size_t recompute, pipeline::Schedule schedule) {
    return recompute * pipeline::schedules().size() + std::size_t(schedule);
  }

  const ActivationBytes& find_activations(std::size_t recompute, plan::TrainingConfig& config);
  const OverheadBounds& find_overhead(plan::TrainingConfig& config);

  const NodeSpace* space_;
  std::vector<std::optional<ActivationBytes>> activations_;
  std::optional<OverheadBounds> overhead_{};
  std::vector<std::vector<double>> in_flight_;  // by schedule and pp rank; empty: not known
  std::vector<std::optional<MemoryBounds>> bounds_;
};

/// Returns a lower bound of the memory of pp rank 0, over all ZeRO stages: the states of its
/// layers, and its microbatches in flight, each with the activations of the rank's smallest chunk.
/// Requires: `stages` are those of `config`.
Bytes min_memory_on_first_rank(const NodeSpace& space, const ActivationSums& activations,
                               const OverheadBounds& overhead, const plan::TrainingConfig& config,
                               const plan::Stages& stages);

}  // namespace rankwright::search
