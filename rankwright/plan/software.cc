#include "rankwright/plan/software.h"

#include <algorithm>
#include <array>
#include <vector>

namespace rankwright::plan {
namespace {

constexpr std::array<std::string_view, 4> kAttention{"unfused", "flash1", "flash2", "fused"};
constexpr std::array<std::string_view, 5> kLaunch{"eager", "partial_graphs", "graphs", "compiled",
                                                  "blocking"};
constexpr std::array<std::string_view, 3> kExpertKernels{"sequential", "grouped", "fused"};
constexpr std::array<std::string_view, 9> kLoss{"fused",    "unfused",      "sharded",
                                                "eager",    "log_softmax",  "log_probs",
                                                "in_place", "fused_linear", "chunked"};
constexpr std::array<std::string_view, 3> kGradients{"fp32", "fp32, fp16 with fp16 parameters",
                                                     "as the parameters"};
constexpr std::array<std::string_view, 3> kAccumulations{"shards", "whole, of what is trained",
                                                         "whole, also of frozen weights"};
constexpr std::array<std::string_view, 3> kHostUpdates{
    "PyTorch's fused Adam", "PyTorch's Adam, not fused", "DeepSpeed's CPU-Adam"};
constexpr std::array<i64, 6> kLogitBytes{4, 6, 10, 14, 12, 16};
constexpr i64 kLossChunks = 8;  // torchtitan's ChunkedLossWrapper.Config.num_chunks

// An idle PyTorch process takes 1573 MiB of an A100 if all kernels are loaded at startup (CUDA
// before 11.7; bigscience's chronicles print it), about 0.5 GB with lazy loading.
constexpr Bytes kAllKernels{1573.0 * 1048576};

constexpr Software kMegatronCore{};

constexpr Software kNemo{.name = "nemo", .tuned = true};

constexpr Software kMlperf{
    .name = "mlperf", .year = 2024, .launch = Launch::graphs, .expert_features = {}, .tuned = true};

constexpr Software kMegatron2021{.name = "megatron-2021",
                                 .year = 2021,
                                 .attention = AttentionKernel::unfused,
                                 .expert_features = {},
                                 .loss = Loss::unfused,
                                 .fused_accumulation = false,
                                 .scatters_sends = true,
                                 .dropout = true,
                                 .empty_gradients = false};

constexpr Software kMegatronDeepspeed{.name = "megatron-deepspeed",
                                      .year = 2022,
                                      .attention = AttentionKernel::unfused,
                                      .expert_features = {},
                                      .loss = Loss::sharded,
                                      .host_update = HostUpdate::cpu_adam,
                                      .fused_accumulation = false,
                                      .scatters_sends = true,
                                      .all_reduces = true,
                                      .empty_gradients = false,
                                      .keeps_outputs = true,
                                      .fp32_gradients = true,
                                      .buckets = {2 * 5e8 * 2},
                                      .context = kAllKernels};

// DeepSpeed 0.19 with a model of Hugging Face's: attention is PyTorch's fused one, and NCCL uses
// every NIC. Its ZeRO-1 and 2 still all-reduce (use_multi_rank_bucket_allreduce).
constexpr Software kDeepspeed{.name = "deepspeed",
                              .attention = AttentionKernel::flash2,
                              .expert_features = {},
                              .loss = Loss::log_softmax,
                              .gradients = Gradients::as_parameters,
                              .host_update = HostUpdate::cpu_adam,
                              .fused_accumulation = false,
                              .all_reduces = true,
                              .eager_ops = true,
                              .hf_modeling = true,
                              .offloads_gradients = true,
                              .empty_gradients = false,
                              .buckets = {2 * 5e8 * 2}};

constexpr Software kDeepspeed2021 = [] {
  Software s = kDeepspeed;
  s.name = "deepspeed-2021";
  s.year = 2021;
  s.loss = Loss::eager;
  s.attention = AttentionKernel::unfused;
  s.single_rail = true;
  s.eager_ops = s.hf_modeling = false;
  return s;
}();

constexpr Software kFsdp{.name = "fsdp",
                         .year = 2024,
                         .attention = AttentionKernel::flash2,
                         .expert_features = {},
                         .loss = Loss::eager,
                         .gradients = Gradients::as_parameters,
                         .host_update = HostUpdate::unfused,
                         .fused_accumulation = false,
                         .recomputes_ops = true,
                         .fsdp = true,
                         .offloads_gradients = true,
                         .empty_gradients = false,
                         .dense_embedding = false};

// Other frameworks based on FSDP.
constexpr Software kTorchtitan2024 = [] {
  Software s = kFsdp;
  s.name = "torchtitan-2024";
  s.loss = Loss::fused;
  s.gradients = Gradients::wide;  // mixed_precision_reduce
  s.host_update = HostUpdate::fused;
  s.gathers_fp8 = true;
  s.dtensor = true;
  return s;
}();

// Hugging Face's models with its Trainer on one GPU, DDP or FSDP: operation by operation, attention
// through PyTorch's fused kernel. Full recomputation is its only one. Between the microbatches of a
// step, the Trainer does not synchronize (Accelerator.no_sync). On one GPU, offload of parameters
// is that of axolotl (layer_offloading).
constexpr Software kTransformers = [] {
  Software s = kFsdp;
  s.name = "transformers";
  s.year = 2026;
  s.loss = Loss::log_softmax;
  s.recomputes_ops = false;
  s.eager_ops = true;
  s.hf_modeling = true;
  s.frees_gradients = true;
  s.accumulation = Accumulation::trained;
  s.host_update = HostUpdate::fused;
  s.copies_weights_back = true;
  return s;
}();

// Before its default became the fused AdamW.
constexpr Software kTransformers2024 = [] {
  Software s = kTransformers;
  s.name = "transformers-2024";
  s.year = 2024;
  s.loss = Loss::eager;
  s.host_update = HostUpdate::unfused;
  s.foreach_update = true;
  return s;
}();

// Models and training loop of its own on PyTorch's first FSDP: it accumulates without synchronizing
// (no_backward_sync). bitsandbytes 0.42 keeps the inputs of its matmuls.
constexpr Software kLitgpt2024 = [] {
  Software s = kTransformers;
  s.name = "litgpt-2024";
  s.year = 2024;
  s.accumulation = Accumulation::all;
  s.keeps_quantized_inputs = true;
  return s;
}();

// Compiles only attention by default.
constexpr Software kTorchtitan = [] {
  Software s = kTorchtitan2024;
  s.name = "torchtitan";
  s.year = 2026;
  s.expert_features = {.deepep = true, .hybridep = true};
  s.loss = Loss::chunked;
  s.eager_ops = true;
  return s;
}();

constexpr Software kLlmFoundry = [] {
  Software s = kFsdp;
  s.name = "llm-foundry";
  s.year = 2023;
  s.attention = AttentionKernel::flash1;
  s.gradients = Gradients::wide;
  return s;
}();

constexpr Software kMaxtext = [] {
  Software s = kFsdp;
  s.name = "maxtext";
  s.year = 2025;
  s.attention = AttentionKernel::fused;
  s.launch = Launch::compiled;
  s.loss = Loss::fused;
  s.tuned = true;
  return s;
}();

// This project's runtime on libtorch and MPI; its allocator counts tensors.
constexpr Software kRankwright{.name = "rankwright",
                               .attention = AttentionKernel::unfused,
                               .expert_features = {},
                               .loss = Loss::in_place,
                               .gradients = Gradients::wide,
                               .fused_accumulation = false,
                               .empty_gradients = false,
                               .dense_embedding = false,
                               .keeps_logits = true,
                               .bare = true,
                               .context = {}};

constexpr Software kOwn{.name = "own",
                        .year = 2024,
                        .attention = AttentionKernel::flash2,
                        .expert_features = {},
                        .gradients = Gradients::wide};

// DeepSeek's framework as its report on DeepSeek-V3 describes it (arXiv 2412.19437, sections 3.2
// and 3.3). Its attention kernel for training is not published; FlashMLA reaches 580 TFLOP/s on
// H800.
constexpr Software kHaiLlm{.name = "hai-llm",
                           .year = 2024,
                           .expert_features = {.deepep = true, .overlap = true},
                           .gradients = Gradients::wide,
                           .fp8_dispatch = true};

constexpr std::array kFrameworks{
    kMegatronCore,     kNemo,          kMlperf,     kMegatron2021,   kMegatronDeepspeed,
    kDeepspeed,        kDeepspeed2021, kTorchtitan, kTorchtitan2024, kTransformers,
    kTransformers2024, kLitgpt2024,    kLlmFoundry, kFsdp,           kMaxtext,
    kRankwright,       kHaiLlm,        kOwn};

// megatron-core: the options in megatron/core/transformer/transformer_config.py and moe/experts.py
// at the tags of Megatron-LM, with the months of the tags. nemo: recipes of Megatron-Bridge and its
// docs/releases/software-versions.md.
constexpr Release kReleases[] = {
    {"megatron-core", "0.19", 2026, 8},
    {"megatron-core", "0.18", 2026, 6, "fused kernels of experts",
     [](Software& s) { s.expert_features.fused = false; }},
    {"megatron-core", "0.17", 2026, 4},
    {"megatron-core", "0.16", 2026, 2, "HybridEP",
     [](Software& s) { s.expert_features.hybridep = false; }},
    {"megatron-core", "0.15", 2025, 12},
    {"megatron-core", "0.14", 2025, 10, "overlapped dispatch and combine",
     [](Software& s) { s.expert_features.overlap = false; }},
    {"megatron-core", "0.13", 2025, 7},
    {"megatron-core", "0.12", 2025, 5, "DeepEP",
     [](Software& s) { s.expert_features.deepep = false; }},
    {"megatron-core", "0.11", 2025, 3, "fused permutation of tokens",
     [](Software& s) { s.fused_permute = false; }},
    {"megatron-core", "0.10", 2025, 2},
    {"nemo", "26.08", 2026, 8},
    {"nemo", "26.06", 2026, 6, "fused kernels of experts",
     [](Software& s) { s.expert_features.fused = false; }},
    {"nemo", "26.04", 2026, 4},
    {"nemo", "26.02", 2026, 2},
    {"nemo", "25.11", 2025, 11, "HybridEP",
     [](Software& s) { s.expert_features.hybridep = false; }},
    {"nemo", "25.09", 2025, 9},
};

/// Returns the year at the end of a dated row's name; empty if the row is not dated.
std::string_view find_date(std::string_view row) {
  const std::size_t dash = row.rfind('-');
  if (dash == std::string_view::npos) return {};
  const std::string_view end = row.substr(dash + 1);
  return end.starts_with("20") ? end : std::string_view{};
}

}  // namespace

std::span<const std::string_view> attention_kernel_names() { return kAttention; }
std::string_view name(AttentionKernel kernel) { return kAttention[std::size_t(kernel)]; }

std::span<const std::string_view> launch_names() { return kLaunch; }
std::string_view name(Launch launch) { return kLaunch[std::size_t(launch)]; }

std::span<const std::string_view> expert_kernel_names() { return kExpertKernels; }
std::string_view name(ExpertKernel kernel) { return kExpertKernels[std::size_t(kernel)]; }

std::span<const std::string_view> loss_names() { return kLoss; }
std::string_view name(Loss loss) { return kLoss[std::size_t(loss)]; }
double bytes_per_logit(Loss loss, const Job& job) {
  if (loss == Loss::fused_linear) return 0;
  if (loss == Loss::chunked) return bytes_per_logit(Loss::eager, job) / double(kLossChunks);
  if (loss != Loss::in_place) return double(kLogitBytes[std::size_t(loss)]);
  const i64 made_from = job.activation_bytes();
  return double(job.scalar_bytes() + (made_from < job.scalar_bytes() ? made_from : 0));
}
i64 count_loss_chunks(Loss loss) { return loss == Loss::chunked ? kLossChunks : 1; }

std::string_view name(Accumulation kept) { return kAccumulations[std::size_t(kept)]; }
std::string_view name(HostUpdate update) { return kHostUpdates[std::size_t(update)]; }
std::string_view name(Gradients gradients) { return kGradients[std::size_t(gradients)]; }

Dtype default_grad_dtype(const Software& software, Dtype parameters) {
  const Dtype narrow = size(parameters) < 2 ? Dtype::bf16 : parameters;
  const Dtype wide = size(parameters) > 4 ? parameters : Dtype::fp32;
  switch (software.gradients) {
    case Gradients::wide:
      return wide;
    case Gradients::wide_unless_fp16:
      return parameters == Dtype::fp16 ? Dtype::fp16 : wide;
    case Gradients::as_parameters:
      return narrow;
  }
  return wide;
}

Loss default_loss(const Software& software, Method method) {
  if (method == Method::lm || software.bare) return software.loss;
  const bool trl = software.hf_modeling && software.frees_gradients;
  return trl && software.year >= 2026 ? Loss::fused_linear : Loss::log_probs;
}

std::span<const Software> frameworks() { return kFrameworks; }

std::span<const Release> releases() { return kReleases; }

std::span<const std::string_view> release_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    const auto add = [&](std::string_view name) {
      if (!name.empty() && std::find(all.begin(), all.end(), name) == all.end())
        all.push_back(name);
    };
    for (const Release& release : kReleases) add(release.name);
    for (const Software& row : kFrameworks) add(find_date(row.name));
    return all;
  }();
  return names;
}

std::optional<Software> find_release(const Software& framework, std::string_view release) {
  for (const Software& row : kFrameworks)
    if (const std::string_view date = find_date(row.name);
        date == release && row.name.substr(0, row.name.size() - date.size() - 1) == framework.name)
      return row;
  Software found = framework;
  for (const Release& one : kReleases) {
    if (one.framework != framework.name) continue;
    found.release = one.name;
    found.year = one.year;
    if (one.name == release) return found;
    if (one.remove != nullptr) one.remove(found);
  }
  return std::nullopt;
}

}  // namespace rankwright::plan
