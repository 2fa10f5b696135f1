// Misfits: what arithmetic forbids in a plan, whatever framework runs it. A ConstraintViolation is
// small data, because a search makes millions; the words for people are rules/arithmetic.cc. What
// does not fit in memory is cost/.
#pragma once

#include <vector>

#include "rankwright/plan/plan.h"

namespace rankwright::plan {

/// A step counts its buckets one by one: what is smaller than that many make of a model is refused.
inline constexpr i64 kMaxBuckets = i64{1} << 20;

struct ConstraintViolation {
  enum class Why : unsigned char {
    none,
    degrees,              // tp x cp x dp x pp is not the world size
    devices,              // more ranks than devices
    expert_ranks,         // etp x ep x pp does not divide the world
    pipelines_differ,     // dense and expert layers have different pp groups
    placement,            // the listed devices are not one of the cluster a rank
    heads,                // tp does not divide the attention heads
    kv_heads,             // neither of tp and the key-value heads divides the other
    ffn,                  // tp does not divide the feed-forward's width
    expert_ffn,           // etp does not divide an expert's width
    no_experts,           // ep > 1 on a dense model
    experts,              // ep does not divide the experts
    stages,               // more stages than layers
    stage_count,          // a stated split has another number of stages than pp x v
    stage_layers,         // a stated split has another number of layers than the model
    chunks,               // the schedule does not take so many chunks a pp rank
    pp_multiple,          // the schedule takes pp ranks in pairs
    microbatch_multiple,  // the schedule takes microbatches in pairs
    microbatches,         // the schedule needs more microbatches for its pp ranks
    group,                // the schedule needs more microbatches in a group
    batch,                // micro_batch x dp does not divide the global batch
    sequence_cp,          // 2 x cp does not divide the sequence
    sequence_tp,          // sequence parallelism: tp does not divide the sequence of a cp rank
    ulysses,              // cp does not divide the heads of a tp rank
    shard,                // shard_size does not cut the data ranks evenly
    buckets,              // bucket_size cuts the parameters into more than kMaxBuckets
  };
  Why why = Why::none;
  i64 need = 0, have = 0;  // the two numbers that do not go together, the plan's first

  explicit constexpr operator bool() const { return why != Why::none; }
  friend constexpr bool operator==(const ConstraintViolation&,
                                   const ConstraintViolation&) = default;
};

/// The first rule that the config breaks, cheapest first. All degrees and sizes are at least 1.
ConstraintViolation find_violation(const TrainingConfig& config);

/// The same of the rules that look at schedule, chunks and stages: for a search that changes
/// nothing else.
ConstraintViolation find_pipeline_violation(const TrainingConfig& config);

/// All of them. Rules that ask for groups are left out while the degrees do not give any.
std::vector<ConstraintViolation> find_violations(const TrainingConfig& config);

}  // namespace rankwright::plan
