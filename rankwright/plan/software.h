// Software is what the training framework does that neither the layout nor the job says: which
// attention kernel, how kernels are launched, what selective recompute drops, what it holds in
// memory besides. Facts about code, one row a framework; none of it is fitted.
#pragma once

#include <span>
#include <string_view>

#include "rankwright/base/integer.h"
#include "rankwright/base/units.h"
#include "rankwright/plan/job.h"

namespace rankwright::plan {

/// unfused writes the scores to memory; flash1 and flash2 are FlashAttention's first two; fused is
/// cuDNN's or FlashAttention-3, which on Ampere is no faster than flash2.
enum class AttentionKernel : unsigned char { unfused, flash1, flash2, fused };
std::span<const std::string_view> attention_kernel_names();
std::string_view name(AttentionKernel);

/// eager: the host launches each kernel; graphs: CUDA graphs; compiled: one program a step (XLA);
/// blocking: the host waits for each kernel (CUDA_LAUNCH_BLOCKING=1).
enum class Launch : unsigned char { eager, graphs, compiled, blocking };
std::span<const std::string_view> launch_names();
std::string_view name(Launch);

/// How the loss is computed, and so what it holds a logit at its peak.
enum class Loss : unsigned char {
  fused,     // 4 bytes: fused or compiled
  unfused,   // 6: bf16 logits and their fp32 copy
  sharded,   // 10: the same and what the backward of both holds
  eager,     // 14: bf16, fp32, log-softmax, gradient
  in_place,  // 6 with bf16: fp32 logits, which become their gradient, and the bf16 ones that they
             // are made from; with fp32 parameters 4, with fp64 8
};
std::span<const std::string_view> loss_names();
std::string_view name(Loss);
i64 bytes_per_logit(Loss, const Job&);

struct Software {
  std::string_view name = "megatron-core";
  AttentionKernel attention = AttentionKernel::fused;
  Launch launch = Launch::eager;
  Loss loss = Loss::fused;
  bool tuned = false;  // the recipe was tuned for this model and machine by its vendor
  // Time.
  bool fused_accumulation = true;  // weight gradients are added in fp32 inside the matmul
  bool recomputes_ops = false;     // selective: every second matmul, not attention's core
  bool gathers_fp8 = false;        // ZeRO-3 gathers one byte a parameter where matmuls are fp8
  bool single_rail = false;        // data-parallel rings use one NIC of a node
  bool scatters_sends = false;     // each tp rank sends its part of a stage's output
  bool all_reduces = false;        // ZeRO-1 and 2 all-reduce gradients (DeepSpeed of 2022)
  // Memory.
  bool fsdp = false;            // weights are kept in fp32 and cast when gathered
  bool dropout = false;         // masks of one byte are kept
  bool empty_gradients = true;  // Transformer Engine's cached 16-bit tensor a weight shape
  bool dense_embedding = true;  // the embedding's gradient is whole for a moment
  bool keeps_outputs = false;   // a stage's output is kept until its backward
  bool fp32_gradients = false;  // the optimizer step makes an fp32 copy of its gradients
  bool keeps_logits = false;    // of a microbatch until its backward, not for a moment
  bool wide_gradients = false;  // fp32, with fp64 parameters fp64, where a plan does not say
  bool bare = false;            // its tensors are all there is: no allocator, no libraries
  Bytes buckets{};              // communication buckets inside the allocator
  Bytes context = {0.5e9};      // of the driver, loaded kernels

  friend bool operator==(const Software&, const Software&) = default;
};

/// One row a framework; the first is what a plan that names none is taken to run on.
std::span<const Software> frameworks();

}  // namespace rankwright::plan
