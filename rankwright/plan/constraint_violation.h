// Constraint violations: what arithmetic forbids in a plan, for every framework. A
// ConstraintViolation is small, because a search makes millions; rules/arithmetic.cc has the
// messages, and cost/ checks memory.
#pragma once

#include <vector>

#include "rankwright/plan/plan.h"

namespace rankwright::plan {

/// Maximum number of gradient buckets. They are processed one by one, so a bucket_size that cuts
/// the model into more is rejected.
inline constexpr i64 kMaxBuckets = i64{1} << 20;

struct ConstraintViolation {
  enum class Why : unsigned char {
    none,
    degrees,              // tp x cp x dp x pp is not the world size
    devices,              // more ranks than devices
    expert_ranks,         // etp x ep x pp does not divide the world
    pipelines_differ,     // dense and expert layers have different pp groups
    placement,            // the listed devices are not one distinct device of the cluster per rank
    heads,                // tp does not divide the attention heads
    kv_heads,             // neither tp nor the number of key-value heads divides the other
    ffn,                  // tp does not divide the feed-forward width
    expert_ffn,           // etp does not divide the expert width
    no_experts,           // ep > 1 on a dense model
    experts,              // ep does not divide the number of experts
    stages,               // more stages than layers
    stage_count,          // a stated split does not have pp x v stages
    stage_layers,         // a stated split does not have as many layers as the model
    chunks,               // the schedule does not support this number of chunks per pp rank
    pp_multiple,          // the schedule needs an even number of pp ranks
    microbatch_multiple,  // the schedule needs an even number of microbatches
    microbatches,         // too few microbatches for the schedule and its pp ranks
    group,                // too few microbatches per group for the schedule
    batch,                // micro_batch x dp does not divide the global batch
    sequence_cp,          // 2 x cp does not divide the sequence
    sequence_tp,          // sequence parallelism: tp does not divide the sequence per cp rank
    ulysses,              // cp does not divide the heads per tp rank
    shard,                // shard_size does not divide the data ranks evenly
    buckets,              // bucket_size cuts the parameters into more than kMaxBuckets
  };
  Why why = Why::none;
  i64 need = 0, have = 0;  // the two conflicting numbers, the plan's first

  explicit constexpr operator bool() const { return why != Why::none; }
  friend constexpr bool operator==(const ConstraintViolation&,
                                   const ConstraintViolation&) = default;
};

/// Returns the first constraint that the config violates, cheapest check first, or none. Requires:
/// all degrees and sizes are at least 1.
ConstraintViolation find_first_violation(const TrainingConfig& config);

/// Like find_first_violation(), but checks only schedule, chunks and stages: for a search that
/// changes nothing else.
ConstraintViolation find_first_pipeline_violation(const TrainingConfig& config);

/// Returns all violations. Constraints on groups are checked only if the degrees are valid.
std::vector<ConstraintViolation> find_violations(const TrainingConfig& config);

}  // namespace rankwright::plan
