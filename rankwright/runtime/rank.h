// The state that all computation on one rank shares: the config, its groups, the number formats,
// and the list that deferred weight gradients go to.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <vector>

#include "rankwright/plan/plan.h"
#include "rankwright/runtime/group.h"

namespace rankwright::runtime {

using torch::Tensor;

/// The number formats of a run. bf16 accumulates gradients in fp32; the others use one format.
struct Formats {
  torch::ScalarType compute{};
  torch::ScalarType sum{};  // of gradients, master weights and moments
};
Formats choose_formats(const plan::Job& job);

/// Returns the elements of a tensor. Requires: `tensor` is contiguous.
Slab slab(const Tensor& tensor);

/// Deferred weight gradients of one piece in one cell.
using WeightWork = std::vector<std::function<void()>>;

/// The groups of one rank, by parallelism axis.
struct Groups {
  Group tp{}, data{}, pp{}, edges{}, mirror{}, model{}, world{};
};

/// One rank's position in the plan and what its computation needs.
struct Rank {
  const plan::TrainingConfig& config;
  Formats formats{};
  Groups groups{};
  i64 tp_rank = 0, dp_rank = 0, pp_rank = 0;
  bool sequence_parallel = false;
  WeightWork* deferred = nullptr;  // if null, weight gradients are computed at once
  std::function<void()> progress_calls = [] {
  };  // progresses nonblocking calls between computations

  i64 tp() const { return config.plan.tp; }
  i64 sequence() const { return config.job.sequence; }
  i64 batch() const { return config.plan.micro_batch; }
  /// Returns the tokens per sequence that this rank holds between blocks.
  i64 local_sequence() const { return sequence_parallel ? sequence() / tp() : sequence(); }

  /// Runs `work` now, or defers it to the W cell.
  void weight_gradient(std::function<void()> work, bool immediate = false) const {
    if (deferred != nullptr && !immediate)
      deferred->push_back(std::move(work));
    else
      work();
  }
};

// Collectives over tp. The first dimension of the tensors is the sequence.
Tensor gather(const Rank& rank, const Tensor& part, plan::TrafficKind kind);
Tensor scatter(const Rank& rank, const Tensor& whole, plan::TrafficKind kind);  // reduce-scatter
void reduce(const Rank& rank, const Tensor& whole, plan::TrafficKind kind);     // in place

}  // namespace rankwright::runtime
