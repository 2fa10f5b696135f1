// RW02..: whether the plan fits, by the memory estimate of the fullest rank (cost/memory/memory.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/cost/memory/offload_time.h"
#include "rankwright/cost/memory/states.h"
#include "rankwright/rules/change.h"
#include "rankwright/rules/fitting.h"
#include "rankwright/rules/memory_verdict.h"
#include "rankwright/rules/rule.h"

namespace rankwright::rules {
namespace memory_impl {
namespace {

constexpr std::size_t kChanges = 3;  // changes that are proposed

/// Returns the three largest entries: "activations 63.6 GiB, parameters 5.94 GiB, gradients 5.94
/// GiB".
std::string show_largest_entries(const cost::MemoryEstimate& memory) {
  std::vector<const cost::EntryRow*> rows;
  for (const cost::EntryRow& row : cost::entries())
    if (memory[row.entry] > Bytes{}) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [&](const cost::EntryRow* a, const cost::EntryRow* b) {
    return memory[a->entry] > memory[b->entry];
  });
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, rows.size()); ++i)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", rows[i]->name,
                        show_memory(memory[rows[i]->entry]));
  return text;
}

/// Returns "recompute: selective   61.2 of 79.1 GiB, step 12.3 s (+4 %)".
std::string change_text(const FittingChange& fit, const plan::TrainingConfig& config,
                        const cost::Estimate& now) {
  std::string keys;
  for (const Edit& edit : fit.change.edits()) {
    const std::string key = edit.key.starts_with("parallelism.") ? edit.key.substr(12) : edit.key;
    keys += fmt::format("{}{}: {}", keys.empty() ? "" : ", ", key, edit.value);
  }
  const cost::Estimate& then = fit.estimate;
  const i64 batch = config.job.global_batch;
  const double slower = fit.time_per_sequence() / (now.time() / double(batch)) - 1;
  return fmt::format("{}   {}, step {} ({}{}{}){}", keys,
                     show_memory(then.memory.total(), then.capacity), show(then.time()),
                     slower < 0 ? "-" : "+", percent(std::abs(std::round(1000 * slower) / 1000)),
                     fit.change.config().job.global_batch == batch ? "" : " per token",
                     then.verdict() == cost::MemoryVerdict::fits_with_margin
                         ? ""
                         : fmt::format(", {}", name(then.verdict())));
}

/// Adds the cheapest changes as notes and the first of them as the fix.
void propose(const Subject& subject, const cost::Estimate& now, bool with_margin,
             Finding& finding) {
  const std::vector<FittingChange> fits =
      find_cheapest_fits(subject.config, subject.target, kChanges, with_margin);
  for (const FittingChange& fit : fits)
    finding.notes.push_back(change_text(fit, subject.config, now));
  if (!fits.empty()) finding.fix = fits.front().change.edits();
}

/// Returns the verdict on the fullest rank of a config.
cost::MemoryVerdict judge(const plan::TrainingConfig& s) {
  return judge_memory(cost::fullest(s, select_calibration(s)), s);
}

std::optional<Finding> check_fits(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  if (s.reference_model) return std::nullopt;
  if (judge(s) != cost::MemoryVerdict::does_not_fit) return std::nullopt;
  const cost::Estimate now = cost::estimate_closely(s, select_calibration(s));
  Finding finding{
      .detail = fmt::format("PP rank {} needs {} of {}", now.memory.pp_rank,
                            show_memory(now.memory.total(), now.capacity), s.cluster.device.name),
      .key = "parallelism"};
  finding.notes.push_back(show_largest_entries(now.memory));
  propose(subject, now, false, finding);
  if (finding.fix.empty())
    finding.hint = fmt::format("no small change makes it fit on {}: use more GPUs",
                               plural(s.world, "GPU", "GPUs"));
  return finding;
}

std::optional<Finding> check_fits_with_margin(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  if (s.reference_model) return std::nullopt;
  if (sure(judge(s))) return std::nullopt;
  const cost::Estimate now = cost::estimate_closely(s, select_calibration(s));
  Finding finding{.detail = fmt::format("PP rank {} needs {} of {}: {}", now.memory.pp_rank,
                                        show_memory(now.memory.total(), now.capacity),
                                        s.cluster.device.name, describe_memory_verdict(now)),
                  .key = "parallelism",
                  .notes = {show_largest_entries(now.memory)}};
  propose(subject, now, true, finding);
  if (finding.fix.empty())
    finding.hint = "run one step before booking the cluster, or use more GPUs";
  return finding;
}

std::string describe_host_memory(const plan::TrainingConfig& s, const cost::MemoryEstimate& now) {
  const i64 ranks = cost::count_host_ranks(s);
  const std::string drives = now.nvme > Bytes{} ? fmt::format(", {} of NVMe per node",
                                                              show_memory(count_nvme_space(s, now)))
                                                : "";
  return fmt::format("{} per rank, {} per node with {}{}: {}", show_memory(now.host),
                     show_memory(count_host_memory(s, now)), plural(ranks, "rank", "ranks"), drives,
                     show(s.plan.offload));
}

std::optional<Finding> check_offload(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  if (!s.plan.offload.any() || s.reference_model) return std::nullopt;
  const cost::MemoryEstimate now = cost::fullest(s, select_calibration(s));
  if (now.host <= Bytes{} || exceeds_host_memory(s, now)) return std::nullopt;
  return Finding{.detail = describe_host_memory(s, now), .key = "parallelism.offload"};
}

std::optional<Finding> check_host(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  if (!s.plan.offload.any() || s.reference_model) return std::nullopt;
  const cost::MemoryEstimate now = cost::fullest(s, select_calibration(s));
  if (!exceeds_host_memory(s, now)) return std::nullopt;
  return Finding{.detail = fmt::format("{}, but a host has {}", describe_host_memory(s, now),
                                       show_memory(s.cluster.host.memory)),
                 .key = "parallelism.offload",
                 .hint = "offload less, or shard over more ranks"};
}

std::optional<Finding> check_nvme(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  if (s.plan.offload.nvme == plan::NvmeStates::none || s.reference_model) return std::nullopt;
  const cost::MemoryEstimate now = cost::fullest(s, select_calibration(s));
  if (!exceeds_nvme_capacity(s, now)) return std::nullopt;
  return Finding{.detail = fmt::format("{} per node on NVMe, but nvme_capacity is {}",
                                       show_memory(count_nvme_space(s, now)),
                                       show_memory(s.cluster.host.nvme.capacity)),
                 .key = "parallelism.offload.nvme",
                 .hint = "offload less, or shard over more nodes"};
}

/// Returns whether `offload.nvme` moves nothing: only ZeRO-3 does, and only what is offloaded.
bool has_idle_nvme(const plan::TrainingConfig& s) {
  const cost::KeptOnNvme moved = cost::find_kept_on_nvme(s);
  return s.plan.offload.nvme != plan::NvmeStates::none && !moved.optimizer && !moved.parameters;
}

/// Returns the key of an offload or of a format of frozen weights that has no effect; empty if all
/// have one.
std::string find_idle_setting(const plan::TrainingConfig& s) {
  if (s.plan.offload.parameters && !cost::shards_weights(s) && s.plan.data_ranks() > 1)
    return "parallelism.offload.parameters";
  if (s.plan.offload.activations && s.plan.recompute != plan::Recompute::full)
    return "parallelism.offload.activations";
  if (has_idle_nvme(s)) return "parallelism.offload.nvme";
  if (s.job.base_dtype != plan::BaseDtype::same && !s.job.frozen()) return "job.base_dtype";
  if (s.job.loss_tokens > s.job.sequence) return "job.loss_tokens";
  return {};
}

std::optional<Finding> check_idle_settings(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  const std::string key = find_idle_setting(s);
  if (key.empty()) return std::nullopt;
  if (key == "job.base_dtype")
    return Finding{.detail = fmt::format("base_dtype is {}, but all parameters are trained",
                                         name(s.job.base_dtype)),
                   .key = key,
                   .hint = "job: {lora_rank: 16}, or remove base_dtype"};
  if (key == "job.loss_tokens")
    return Finding{.detail = fmt::format("loss_tokens is {}, but a sequence has {} tokens",
                                         count(s.job.loss_tokens), count(s.job.sequence)),
                   .key = key,
                   .hint = "remove loss_tokens"};
  if (key == "parallelism.offload.activations")
    return Finding{.detail = fmt::format("recompute is {}", name(s.plan.recompute)),
                   .key = key,
                   .hint = "parallelism: {recompute: full}"};
  if (key == "parallelism.offload.nvme" && !s.plan.offload.nvme_optimizer() &&
      !s.plan.offload.nvme_parameters())
    return Finding{.detail = fmt::format("nvme is {}, but offloaded is {}",
                                         name(s.plan.offload.nvme), show(s.plan.offload)),
                   .key = key,
                   .hint = "parallelism: {offload: {optimizer: true, parameters: true}}"};
  if (key == "parallelism.offload.nvme")
    return Finding{.detail = fmt::format("zero_stage is {}, which keeps offloaded states in memory",
                                         s.plan.zero),
                   .key = key,
                   .hint = "parallelism: {zero_stage: 3}"};
  return Finding{.detail = fmt::format(
                     "zero_stage is {}, which keeps whole parameters on every GPU", s.plan.zero),
                 .key = key,
                 .hint = "parallelism: {zero_stage: 3}"};
}

/// Reports what the estimate does not count of an encoder.
std::optional<Finding> check_encoder(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  const model::Model& model = s.model;
  if (model.encoder_layers == 0 && model.encoder_parameters == 0) return std::nullopt;
  if (model.encoder_parameters == 0)
    return Finding{.detail = "unknown kind of encoder: only the text part is estimated",
                   .key = "model",
                   .hint = "state encoder_parameters in the model file"};
  const std::string held = fmt::format("{} parameters of the encoder are on the first stage",
                                       format_short_count(double(model.encoder_parameters)));
  if (model.encoder.hidden == 0)
    return Finding{.detail = held + "; its activations and its time are not estimated",
                   .key = "model",
                   .hint = "state encoder_hidden, encoder_ffn and encoder_heads in the model file"};
  if (s.job.images == 0)
    return Finding{.detail = held + fmt::format("; no {} are stated, so that it does not run",
                                                model.encoder.audio ? "clips" : "images"),
                   .key = "model",
                   .hint = model.encoder.audio ? "job: {clips: 1}" : "job: {images: 1}"};
  if (s.plan.tp == 1) return std::nullopt;
  return Finding{.detail = held + "; its tensor-parallel collectives are not estimated",
                 .key = "model"};
}

std::optional<Finding> check_replicated_optimizer(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  constexpr double kWorthSaying = 0.1;
  if (s.reference_model || s.plan.zero > 0 || s.plan.data_ranks() == 1 ||
      supported_zero_stages(subject.target).front() != 1)
    return std::nullopt;
  const cost::MemoryEstimate now = cost::fullest(s, select_calibration(s));
  // RW0201 and RW0202 cover plans that do not fit with margin, and propose changes.
  if (judge_memory(now, s) != cost::MemoryVerdict::fits_with_margin) return std::nullopt;
  const Bytes whole = now[cost::Entry::optimizer];
  const Bytes sharded = cost::estimate_memory(Change(s).zero(1).config(), now.pp_rank,
                                              select_calibration(s))[cost::Entry::optimizer];
  if (whole - sharded < kWorthSaying * s.cluster.device.memory) return std::nullopt;
  return Finding{
      .detail = fmt::format("each of {} data-parallel ranks holds the same {} of optimizer states",
                            count(s.plan.data_ranks()), show_memory(whole)),
      .key = "parallelism.zero_stage",
      .fix = {edit("parallelism.zero_stage", 1)},
      .notes = {fmt::format("ZeRO-1 leaves {} per rank and moves no more data: reduce-scatter + "
                            "all-gather instead of all-reduce",
                            show_memory(sharded))}};
}

std::optional<Finding> check_whole_gradients(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  constexpr double kWorthSaying = 0.05;
  if (s.reference_model || s.software.accumulation == plan::Accumulation::shards)
    return std::nullopt;
  const auto gradients_of = [](const plan::TrainingConfig& config) {
    return cost::fullest(config, select_calibration(config))[cost::Entry::gradients];
  };
  const Change synchronized = Change(s).sync_each_batch();
  const Bytes whole = gradients_of(s), shards = gradients_of(synchronized.config());
  if (whole - shards < kWorthSaying * s.cluster.device.memory) return std::nullopt;
  return Finding{.detail = fmt::format(
                     "{} of gradients between {} micro-batches of a step, where shards take {}",
                     show_memory(whole), count(s.microbatches()), show_memory(shards)),
                 .key = "software",
                 .fix = synchronized.edits()};
}

std::optional<Finding> check_model_left_open(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  if (!s.reference_model) return std::nullopt;
  std::string detail = fmt::format("times and memory are estimated with {} layers", s.model.name);
  if (!find_first_violation(s)) {
    const cost::MemoryEstimate now = cost::fullest(s, select_calibration(s));
    detail +=
        fmt::format(": PP rank {} needs {} ({})", now.pp_rank,
                    show_memory(now.total(), s.cluster.device.memory), name(judge_memory(now, s)));
  }
  return Finding{.detail = detail, .key = "model", .fix = {edit("model", s.model.name)}};
}

constexpr Rule kRules[] = {
    {{"RW0201", Severity::error, "the plan does not fit in memory",
      "The fullest rank needs more memory than its device has. Parameters, gradients and optimizer "
      "states take 18 bytes per parameter with bf16, fp32 gradients and Adam. TP and PP divide "
      "them; DP without ZeRO does not. Activations of every micro-batch in flight, the loss, "
      "communication buffers, allocator reserve and framework context come on top.",
      "Apply one of the changes listed in the notes. Each was estimated; the fastest step comes "
      "first. `rankwright explain plan.yaml` prints the full memory breakdown.",
      "docs/reference/formulas.md, M1 to M25",
      "world_size: 64\n"
      "model: llama-3.1-8b\n"
      "cluster: dgx-h100 x 8\n"
      "parallelism: {dp_size: 64}\n"},
     Target::any,
     Rule::When::without_violations,
     check_fits},
    {{"RW0202", Severity::warning, "the plan may not fit in memory",
      "The fullest rank is within the estimate error of its device's memory. Nine of ten published "
      "runs are within that error, above or below.",
      "Run one step before booking the cluster, or apply one of the changes listed in the notes: "
      "each leaves more room than the estimate error.",
      "",
      "world_size: 8\n"
      "model: llama-3.1-8b\n"
      "cluster: dgx-h100 x 1\n"
      "parallelism: {tp_size: 2, dp_size: 4, order: tp-dp-pp, recompute: full}\n"
      "job: {global_batch: 64, sequence: 8192, grad_dtype: fp32}\n"},
     Target::any,
     Rule::When::without_violations,
     check_fits_with_margin},
    {{"RW0203", Severity::note, "optimizer states are replicated on every data-parallel rank",
      "Without ZeRO, every data-parallel rank holds all optimizer states (12 bytes per parameter "
      "for Adam), although it needs only its part of the update.",
      "Set zero_stage: 1 (the distributed optimizer). It adds no traffic.",
      "ZeRO (Rajbhandari et al. 2020), section 5",
      "world_size: 64\n"
      "model: llama-3.1-70b\n"
      "cluster: dgx-h100 x 8\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, order: tp-dp-pp}\n"
      "job: {global_batch: 128, sequence: 8192}\n"},
     Target::any,
     Rule::When::without_violations,
     check_replicated_optimizer},
    {{"RW0204", Severity::warning, "no model given",
      "Degrees can be checked without a model. Times, memory and the verdict on memory are those "
      "of an assumed model.",
      "Set `model` to a catalog name (`rankwright catalog models`), the path of a config.json, or "
      "shapes.",
      "",
      "world_size: 64\n"
      "cluster: dgx-h100 x 8\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, order: tp-dp-pp}\n"},
     Target::any,
     Rule::When::always,
     check_model_left_open},
    {{"RW0205", Severity::note, "the plan needs host memory",
      "Offloaded optimizer states, gradients, parameters and activations are kept in the memory of "
      "the host, pinned. A node needs room for all of its ranks, besides the data loader and the "
      "file cache.",
      "Compare it with the memory of the node (`free -g`). ZeRO over more ranks divides it.",
      "docs/reference/formulas.md, M31",
      "world_size: 8\n"
      "model: llama-3.1-8b\n"
      "cluster: dgx-a100 x 1\n"
      "parallelism: {tp_size: 1, dp_size: 8, order: tp-dp-pp, zero_stage: 3, offload: {optimizer: "
      "true}}\n"
      "job: {sequence: 2048}\n"},
     Target::any,
     Rule::When::without_violations,
     check_offload},
    {{"RW0206", Severity::warning, "a setting that saves memory has no effect",
      "Parameters can be offloaded only if they are sharded (ZeRO-3), offloaded states can be on "
      "NVMe drives only with ZeRO-3, activations can be offloaded only if layers are recomputed "
      "from their inputs, weights can be stored in another format than that of computations only "
      "if "
      "they are frozen, and logits can be left out only for tokens that a sequence has.",
      "Set what the setting needs, or remove it.",
      "DeepSpeed, ZeRO-Offload tutorial: offload_param is valid only with stage 3",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "cluster: dgx-a100 x 1\n"
      "parallelism: {tp_size: 1, dp_size: 8, order: tp-dp-pp, zero_stage: 2, offload: {parameters: "
      "true}}\n"
      "job: {sequence: 2048}\n"},
     Target::any,
     Rule::When::without_violations,
     check_idle_settings},
    {{"RW0207", Severity::error, "the plan does not fit in host memory",
      "What all ranks of a host offload exceeds `host_memory` of the cluster file. The operating "
      "system, the data loader and the file cache need room beside it.",
      "Offload less (`offload: {optimizer: 0.5}`), or shard over more ranks.",
      "docs/reference/formulas.md, M31",
      "world_size: 8\n"
      "model: llama-3.1-8b\n"
      "cluster: {device: a100-80g, host_memory: 64 GiB, levels: [{name: nvlink, arity: 8, "
      "bandwidth: 300 GB/s, latency: 2 us}]}\n"
      "parallelism: {tp_size: 1, dp_size: 8, order: tp-dp-pp, zero_stage: 3, offload: {optimizer: "
      "true}}\n"
      "job: {sequence: 2048}\n"},
     Target::any,
     Rule::When::without_violations,
     check_host},
    {{"RW0211", Severity::error, "the plan does not fit on the NVMe drives",
      "What all ranks of a host keep on its drives exceeds `nvme_capacity` of the cluster file: "
      "the "
      "states of the optimizer and fp32 gradients, 16 bytes per parameter with Adam, and "
      "parameters.",
      "Offload less, or shard over more nodes.", "docs/reference/formulas.md, M39",
      "world_size: 8\n"
      "model: llama-3.1-70b\n"
      "cluster: {device: a100-80g, nvme_capacity: 1 TB, levels: [{name: nvlink, arity: 8, "
      "bandwidth: 300 GB/s, latency: 2 us}]}\n"
      "parallelism: {tp_size: 1, dp_size: 8, order: tp-dp-pp, zero_stage: 3, recompute: full, "
      "offload: {optimizer: true, nvme: optimizer, nvme_path: /local_nvme}}\n"
      "job: {sequence: 2048}\n"},
     Target::any,
     Rule::When::without_violations,
     check_nvme},
    {{"RW0212", Severity::note, "gradients are whole between micro-batches",
      "Hugging Face's Trainer and litgpt reduce gradients in the last micro-batch of a step only "
      "(no_sync), so that every rank of FSDP adds up gradients of all that is trained.",
      "Let them synchronize in every micro-batch: `accelerator_config: "
      "{gradient_accumulation_kwargs: {sync_each_batch: true}}` in the arguments of the Trainer. "
      "Gradients are then reduced as often as there are micro-batches.",
      "docs/reference/formulas.md, M40",
      "world_size: 8\n"
      "model: llama-3.1-8b\n"
      "cluster: dgx-a100 x 1\n"
      "parallelism: {tp_size: 1, dp_size: 8, order: tp-dp-pp, zero_stage: 3, recompute: full}\n"
      "job: {sequence: 2048, global_batch: 64}\n"
      "software: {framework: transformers}\n"},
     Target::any,
     Rule::When::without_violations,
     check_whole_gradients},
    {{"RW0208", Severity::note, "the encoder is estimated in part",
      "A vision or audio encoder runs before the first layer. Its parameters, with gradients, "
      "optimizer states and their traffic, are counted on the first pipeline stage. Its time and "
      "its activations are counted if job.images or job.clips states the images or clips of audio "
      "per sequence and the kind of encoder is known; its tensor-parallel collectives are not.",
      "State job.images or job.clips. A frozen encoder runs forward only and keeps no activations.",
      "",
      "world_size: 8\n"
      "model: {name: vlm, architecture: llama, hidden: 2048, layers: 16, heads: 32, kv_heads: 8, "
      "ffn: 8192, vocab: 128256, encoder_parameters: 400000000, encoder_layers: 24}\n"
      "cluster: dgx-a100 x 1\n"
      "parallelism: {tp_size: 1, dp_size: 8, order: tp-dp-pp, zero_stage: 1}\n"
      "job: {sequence: 2048}\n"},
     Target::any,
     Rule::When::without_violations,
     check_encoder},
};

}  // namespace
}  // namespace memory_impl

std::span<const Rule> memory_rules() { return memory_impl::kRules; }

}  // namespace rankwright::rules
