// Software is the behavior of the training framework that neither the layout nor the job
// determines: the attention kernel, how kernels are launched, what selective recompute drops, extra
// memory. These are facts about code, one row per framework and, where it changed, per year; none
// is fitted.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "rankwright/base/integer.h"
#include "rankwright/base/units.h"
#include "rankwright/plan/job.h"

namespace rankwright::plan {

/// unfused writes the scores to memory; flash1 and flash2 are FlashAttention 1 and 2; fused is
/// cuDNN or FlashAttention-3, which on Ampere is no faster than flash2.
enum class AttentionKernel : unsigned char { unfused, flash1, flash2, fused };
std::span<const std::string_view> attention_kernel_names();
std::string_view name(AttentionKernel);

/// eager: the host launches each kernel; partial_graphs: CUDA graphs of the parts of a layer whose
/// shapes do not depend on the routing (attention, router, preprocessing); graphs: CUDA graphs of
/// whole layers or of the iteration; compiled: one program per step (XLA); blocking: the host waits
/// for each kernel (CUDA_LAUNCH_BLOCKING=1).
enum class Launch : unsigned char { eager, partial_graphs, graphs, compiled, blocking };
std::span<const std::string_view> launch_names();
std::string_view name(Launch);

/// How the matmuls of the experts of a rank run. sequential: one matmul after the other; grouped:
/// one kernel for all experts; fused: grouped, with the activation function and the casts to 8 bits
/// inside the kernels.
enum class ExpertKernel : unsigned char { sequential, grouped, fused };
std::span<const std::string_view> expert_kernel_names();
std::string_view name(ExpertKernel);

/// How the loss is computed, which determines its peak memory in bytes per logit.
enum class Loss : unsigned char {
  fused,        // 4 bytes: fused or compiled
  unfused,      // 6: bf16 logits and their fp32 copy
  sharded,      // 10: as unfused, plus what the backward pass of both holds
  eager,        // 14: bf16, fp32, log-softmax, gradient
  log_softmax,  // 12: its output, its gradient and that of the logits, in fp32
  log_probs,    // 16: fp32 logits, and three gradients of the log-probabilities of tokens
  in_place,     // 6 with bf16: fp32 logits, overwritten by their gradient, and the bf16 logits they
                // are made from; 4 with fp32 parameters, 8 with fp64
  fused_linear,  // 0: one kernel with the output head, for some tokens at a time (Liger, CCE)
  chunked,       // 1.75: as eager, with the output head, for an eighth of the tokens at a time
};
std::span<const std::string_view> loss_names();
std::string_view name(Loss);
/// Returns the peak memory of the loss in bytes per logit.
double bytes_per_logit(Loss, const Job&);
/// Returns the number of parts of a microbatch whose loss is computed one after the other.
i64 count_loss_chunks(Loss);

/// The format in which gradients are added up and reduced if the job does not state it.
enum class Gradients : unsigned char {
  wide,              // fp32; fp64 with fp64 parameters
  wide_unless_fp16,  // as wide, but fp16 with fp16 parameters
  as_parameters,     // at least 16 bits
};
std::string_view name(Gradients);

/// The gradients that a rank of FSDP keeps between the microbatches of a step (M40): shards, or
/// whole gradients that are reduced with the last microbatch, of all that is trained or, in flat
/// parameters, of frozen weights, too.
enum class Accumulation : unsigned char { shards, trained, all };
std::string_view name(Accumulation);

/// The kernel of the optimizer on the host, which determines its speed (X15): PyTorch's fused Adam,
/// its default of one operation after another, or DeepSpeed's CPU-Adam.
enum class HostUpdate : unsigned char { fused, unfused, cpu_adam };
std::string_view name(HostUpdate);

/// Features of a framework for experts besides an all-to-all and grouped matmuls.
struct ExpertFeatures {
  bool deepep = false;    // Dispatcher::deepep
  bool hybridep = false;  // Dispatcher::hybridep
  bool overlap = false;   // of dispatch and combine with another microbatch (Overlap::ep)
  bool fused = false;     // ExpertKernel::fused

  friend bool operator==(const ExpertFeatures&, const ExpertFeatures&) = default;
};

/// The behavior of one framework.
struct Software {
  std::string_view name = "megatron-core";
  int year = 2026;             // of the code that the row describes
  std::string_view release{};  // as the plan states it; empty: the newest
  AttentionKernel attention = AttentionKernel::fused;
  Launch launch = Launch::eager;
  ExpertKernel experts = ExpertKernel::grouped;
  bool fused_permute = true;  // one kernel permutes tokens to their experts and pads them
  ExpertFeatures expert_features{.deepep = true, .hybridep = true, .overlap = true, .fused = true};
  Loss loss = Loss::fused;
  Gradients gradients = Gradients::wide_unless_fp16;
  bool tuned = false;  // the vendor tuned the recipe for this model and machine
  // Time.
  HostUpdate host_update = HostUpdate::fused;
  /// Weights that were moved to the device are copied back behind the computation that read them,
  /// in its stream (X15).
  bool copies_weights_back = false;
  bool fused_accumulation = true;  // weight gradients are accumulated in fp32 inside the matmul
  bool recomputes_ops = false;     // selective recompute: every second matmul, not attention
  bool gathers_fp8 = false;        // ZeRO-3 gathers one byte per parameter if matmuls are fp8
  bool single_rail = false;        // data-parallel rings use one NIC per node
  bool scatters_sends = false;     // each tp rank sends its part of a stage's output
  bool all_reduces = false;        // ZeRO-1 and 2 all-reduce gradients, in buckets of several ranks
  /// PyTorch's DTensor: whenever gradients are reduced, tp ranks sum that of each weight that they
  /// all hold, one call per weight; ep ranks exchange token counts in a call of their own.
  bool dtensor = false;
  /// Tokens are dispatched in the 8 bits of the experts' matmuls, and so are the gradients that the
  /// backward dispatches; both combines stay in 16 bits (T7).
  bool fp8_dispatch = false;
  // Memory.
  bool fsdp = false;     // weights are stored in fp32 and cast when gathered
  bool dropout = false;  // dropout masks of one byte per element are kept
  /// PyTorch runs operation by operation: outputs of activation functions, and inputs that tp
  /// gathers, are kept (M29). torch.compile fuses them.
  bool eager_ops = false;
  /// Models as transformers writes them: norms keep fp32 copies, adapters casts of their inputs
  /// (M33).
  bool hf_modeling = false;
  bool frees_gradients = false;  // after the update, until the next backward
  bool foreach_update = false;  // the optimizer's step runs operation by operation over all tensors
  bool offloads_gradients = false;  // gradients go to the host with the optimizer states
  Accumulation accumulation = Accumulation::shards;
  bool keeps_quantized_inputs = false;  // of every matmul with quantized weights (M40)
  bool empty_gradients = true;  // Transformer Engine caches a 16-bit tensor per weight shape
  bool dense_embedding = true;  // the full gradient of the embedding is materialized temporarily
  bool keeps_outputs = false;   // a stage's output is kept until its backward
  bool fp32_gradients = false;  // the optimizer step makes an fp32 copy of its gradients
  bool keeps_logits = false;    // logits are kept until the backward pass of their microbatch
  bool bare = false;            // uses only tensors: no allocator or library overhead
  Bytes buckets{};              // communication buckets inside the allocator
  Bytes context = {0.5e9};      // driver context and loaded kernels

  friend bool operator==(const Software&, const Software&) = default;
};

/// Returns the format of the gradients that the framework uses by default for these parameters.
Dtype default_grad_dtype(const Software&, Dtype parameters);

/// Returns how the framework computes the loss of a method if the plan does not state it. TRL
/// computes log-probabilities with the output head, some tokens at a time; others, as verl with
/// Megatron-LM, from all logits.
Loss default_loss(const Software&, Method);

/// Returns one row per framework, and dated rows of older versions ("deepspeed-2021"), which
/// published runs need. The first is the default for plans that do not name one.
std::span<const Software> frameworks();

/// One release of a framework, and what it added to the release in the next row.
struct Release {
  std::string_view framework, name;
  int year = 0, month = 0;
  std::string_view added{};             // empty: nothing that estimates depend on
  void (*remove)(Software&) = nullptr;  // takes away what the release added
};
/// Returns the releases of all frameworks, the newest of each first.
std::span<const Release> releases();
/// Returns the names of all releases, each once: those of releases() and the years of dated rows.
std::span<const std::string_view> release_names();

/// Returns a framework as it was in a release: a dated row ("deepspeed-2021"), or the row without
/// what later releases added. Returns nothing if the framework has no such release.
std::optional<Software> find_release(const Software& framework, std::string_view release);

}  // namespace rankwright::plan
