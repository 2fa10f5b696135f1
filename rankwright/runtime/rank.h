// What everything on one rank shares while it computes: the config, its groups, the number formats,
// and where weight gradients go that wait for a cell of their own.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <vector>

#include "rankwright/plan/plan.h"
#include "rankwright/runtime/group.h"

namespace rankwright::runtime {

using torch::Tensor;

/// bf16 computes in 16 bits and adds up gradients in fp32; the others do all in one format.
struct Formats {
  torch::ScalarType compute{};
  torch::ScalarType sum{};  // of gradients, the master weights and moments
};
Formats formats(const plan::Job& job);

/// The elements of a contiguous tensor.
Slab slab(const Tensor& tensor);

/// Weight gradients of one cell that are not computed yet, by piece of its stage.
using WeightWork = std::vector<std::function<void()>>;

struct Groups {
  Group tp{}, data{}, pp{}, edges{}, mirror{}, model{}, world{};
};

struct Rank {
  const plan::TrainingConfig& config;
  Formats formats{};
  Groups groups{};
  i64 tp_rank = 0, dp_rank = 0, pp_rank = 0;
  bool sequence_parallel = false;
  WeightWork* later = nullptr;            // nothing: weight gradients are computed at once
  std::function<void()> move_on = [] {};  // lets calls that were begun go on, between computations

  i64 tp() const { return config.plan.tp; }
  i64 sequence() const { return config.job.sequence; }
  i64 batch() const { return config.plan.micro_batch; }
  /// Tokens of a sequence that this rank holds between blocks.
  i64 kept() const { return sequence_parallel ? sequence() / tp() : sequence(); }

  /// Runs it, or keeps it for the weight gradient's own cell.
  void weight_gradient(std::function<void()> work, bool at_once = false) const {
    if (later != nullptr && !at_once)
      later->push_back(std::move(work));
    else
      work();
  }
};

// Tensor parallelism between tensors whose first dim is the sequence.
Tensor gather(const Rank& rank, const Tensor& part, plan::TrafficKind kind);
Tensor scatter(const Rank& rank, const Tensor& whole, plan::TrafficKind kind);  // of the sum
void reduce(const Rank& rank, const Tensor& whole, plan::TrafficKind kind);     // in place

}  // namespace rankwright::runtime
