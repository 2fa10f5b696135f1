// Writes the part of DeepSpeed's JSON config that a layout decides. The training script sets the
// model, the data and the pipeline degree. JSON has no comments, so the head is a key that
// DeepSpeed ignores. Checked against DeepSpeed 0.19.8.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "rankwright/cost/memory/states.h"
#include "rankwright/export/rows.h"
#include "rankwright/export/typed.h"
#include "rankwright/plan/shares.h"

namespace rankwright::exporter {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kDeepspeedStates[] = {"parallelism.tp_size",
                                                 "parallelism.cp_size",
                                                 "parallelism.dp_size",
                                                 "parallelism.pp_size",
                                                 "parallelism.ep_size",
                                                 "parallelism.etp_size",
                                                 "parallelism.order",
                                                 "parallelism.zero_stage",
                                                 "parallelism.shard_size",
                                                 "parallelism.bucket_size",
                                                 "parallelism.sequence_parallel",
                                                 "parallelism.cp_comm",
                                                 "parallelism.micro_batch",
                                                 "parallelism.schedule",
                                                 "parallelism.stages",
                                                 "parallelism.recompute",
                                                 "parallelism.overlap.grad_reduce",
                                                 "parallelism.offload.optimizer",
                                                 "parallelism.offload.parameters",
                                                 "parallelism.offload.activations",
                                                 "parallelism.offload.nvme",
                                                 "parallelism.offload.nvme_path",
                                                 "job.global_batch",
                                                 "job.param_dtype",
                                                 "job.grad_dtype",
                                                 "job.optimizer",
                                                 "job.moment_dtype",
                                                 "job.master_dtype"};

constexpr std::string_view kDeepspeedDtypes[] = {"fp32", "bf16", "fp16", "bf16", "fp32"};
// By plan::Optimizer. Those that it does not have are written as AdamW and reported.
constexpr std::string_view kDeepspeedOptimizers[] = {"AdamW", "SGD",   "Lion",
                                                     "AdamW", "AdamW", "Muon"};

bool has_pipeline(const plan::TrainingConfig& s) { return s.plan.pp > 1; }

bool shards_hybrid(const plan::Plan& p) { return p.zero >= 1 && p.shards() != p.data_ranks(); }

/// Returns whether gradients can be reduced during backward: stage 0 and pipelines reduce them when
/// it is done, whatever overlap_comm says.
bool can_overlap_reduction(const plan::Plan& p) { return p.zero > 0 && p.pp == 1; }

/// Returns whether parameters are updated in bf16, without a wider copy.
bool has_bf16_states(const plan::Job& job) {
  return job.param_dtype == plan::Dtype::bf16 && job.master_dtype == plan::Dtype::bf16;
}

/// Returns the ZeRO stage that offload needs.
int find_offload_stage(const plan::Plan& p) {
  return p.offload.parameters || p.offload.nvme_optimizer() ? 3 : p.offload.optimizer > 0 ? 2 : 0;
}

/// Returns what the file sends to the drives.
plan::NvmeStates find_written_nvme(const plan::TrainingConfig& s) {
  const cost::KeptOnNvme kept = cost::find_kept_on_nvme(s);
  if (kept.optimizer && kept.parameters) return plan::NvmeStates::all;
  if (kept.optimizer) return plan::NvmeStates::optimizer;
  return kept.parameters ? plan::NvmeStates::parameters : plan::NvmeStates::none;
}

/// Sends offloaded states to the drives instead of to host memory.
void write_nvme(const plan::TrainingConfig& s, Json& zero) {
  const cost::KeptOnNvme kept = cost::find_kept_on_nvme(s);
  const std::string& path = s.plan.offload.nvme_path;
  const auto move = [&](Json& states) {
    states["device"] = "nvme";
    if (!path.empty()) states["nvme_path"] = path;
  };
  if (kept.optimizer) {
    move(zero["offload_optimizer"]);
    zero["sub_group_size"] = count_nvme_buffer(s);  // of each of its buffers
  }
  if (kept.parameters) {
    move(zero["offload_param"]);
    zero["offload_param"]["buffer_size"] = count_nvme_buffer(s);
  }
}

Json zero_optimization(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  Json zero{{"stage", p.data_ranks() == 1 ? std::max(p.zero, find_offload_stage(p)) : p.zero},
            {"overlap_comm", p.overlap.grad_reduce && can_overlap_reduction(p)}};
  if (p.zero > 0 && p.bucket_size > 0) zero["reduce_bucket_size"] = p.bucket_size;
  if (p.offload.optimizer > 0 && (p.zero > 0 || p.data_ranks() == 1)) {
    zero["offload_optimizer"] = {{"device", "cpu"}, {"pin_memory", true}};
    if (p.offload.optimizer < 1) zero["offload_optimizer"]["ratio"] = p.offload.optimizer;
  }
  if (p.offload.parameters) zero["offload_param"] = {{"device", "cpu"}, {"pin_memory", true}};
  write_nvme(s, zero);
  return zero;
}

std::span<const std::string_view> list_deepspeed_keys() { return kDeepspeedStates; }

std::vector<UnsupportedSetting> find_unsupported_by_deepspeed(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  std::vector<UnsupportedSetting> lost;
  if (has_pipeline(s))
    lost.push_back({"parallelism.pp_size",
                    fmt::format("set in code: PipelineModule(num_stages={}, ...)", p.pp)});
  if (p.cp > 1)
    lost.push_back({"parallelism.cp_size",
                    "also change the training script: wrap attention for Ulysses, for example with "
                    "DistributedAttention"});
  if (shards_hybrid(p)) lost.push_back({"parallelism.shard_size", "it shards over all data ranks"});
  const i64 usual = p.ep > 1 ? 1 : p.tp;
  if (s.model.sparse() && p.etp != usual)
    lost.push_back({"parallelism.etp_size", "experts are not split, or split like dense layers"});
  const bool whole = recomputes_everything(p);
  if (p.recompute != plan::Recompute::none && !(whole && has_pipeline(s)))
    lost.push_back({"parallelism.recompute",
                    has_pipeline(s) ? "its pipeline recomputes all layers or none"
                                    : "without a pipeline, the model's code recomputes"});
  const bool reduces = p.data_ranks() > 1 || p.expert_dp() > 1;
  if (!can_overlap_reduction(p) && reduces && p.overlap.grad_reduce)
    lost.push_back(
        {"parallelism.overlap.grad_reduce",
         fmt::format("{} gradients after the backward pass",
                     has_pipeline(s) ? "its pipelines reduce" : "ZeRO stage 0 reduces")});
  if (p.zero == 0 && p.bucket_size > 0)
    lost.push_back(
        {"parallelism.bucket_size", "ZeRO stage 0 reduces 500,000,000 elements per call"});
  if (p.data_ranks() == 1 && p.zero < find_offload_stage(p))
    lost.push_back({"parallelism.zero_stage", "one rank shards nothing, but only ZeRO offloads"});
  if (p.offload.optimizer > 0 && p.zero == 0 && p.data_ranks() > 1)
    lost.push_back({"parallelism.offload.optimizer", "it offloads with ZeRO stages 1 to 3"});
  const plan::NvmeStates written = find_written_nvme(s);
  if (p.offload.nvme != written)
    lost.push_back({"parallelism.offload.nvme", p.zero < 3 && p.data_ranks() > 1
                                                    ? "only ZeRO stage 3 moves states to NVMe"
                                                    : "only offloaded states are on NVMe"});
  if (!p.offload.nvme_path.empty() && written == plan::NvmeStates::none)
    lost.push_back({"parallelism.offload.nvme_path", "nothing is on NVMe"});
  if (s.job.optimizer == plan::Optimizer::adam_8bit ||
      s.job.optimizer == plan::Optimizer::adafactor)
    lost.push_back({"job.optimizer", "written as AdamW: the training script creates it"});
  const bool kept_moments = s.job.moment_dtype == plan::Dtype::fp32 ||
                            (s.job.moment_dtype == plan::Dtype::bf16 && has_bf16_states(s.job));
  if (!kept_moments)
    lost.push_back(
        {"job.moment_dtype", "it keeps bf16 moments only if it updates bf16 parameters"});
  if (s.job.master_dtype != plan::Dtype::fp32 && !has_bf16_states(s.job))
    lost.push_back({"job.master_dtype", "it updates parameters in fp32, or bf16 ones in place"});
  if (!s.reference_model) lost.push_back({"model", "the training script builds it"});
  lost.push_back({"job.sequence", "the training script splits the sequences"});
  const auto kept = [](plan::Dtype dtype) {
    return dtype != plan::Dtype::fp8 && dtype != plan::Dtype::fp64;
  };
  if (!kept(s.job.param_dtype))
    lost.push_back({"job.param_dtype", "it keeps parameters in 16 or 32 bits"});
  if (!kept(s.job.grad_dtype))
    lost.push_back({"job.grad_dtype", "it keeps gradients in 16 or 32 bits"});
  return lost;
}

std::vector<ExportFile> write_deepspeed(const plan::TrainingConfig& s, const ExportOptions&,
                                        const std::vector<std::string>& head) {
  const plan::Plan& p = s.plan;
  Json config;
  for (const std::string& line : head) config["_comment"].push_back(comment_line(line));
  // With AutoTP, DeepSpeed checks the batch against all ranks and rejects correct values. The two
  // factors below define the batch as well.
  if (p.tp == 1) config["train_batch_size"] = s.job.global_batch;
  config["train_micro_batch_size_per_gpu"] = p.micro_batch;
  config["gradient_accumulation_steps"] = s.microbatches();
  config["zero_optimization"] = zero_optimization(s);
  // In a pipeline the script's layers and topology split tensors; AutoTP would add a second mesh.
  if (p.tp > 1 && !has_pipeline(s)) config["tensor_parallel"] = {{"autotp_size", p.tp}};
  if (p.cp > 1) {  // DeepSpeed creates the mesh only if both keys are present
    config["sequence_parallel_size"] = p.cp;
    config["data_parallel_size"] = p.dp;
  }
  if (p.ep > 1) config["expert_parallel"] = {{"enabled", true}, {"autoep_size", p.ep}};
  if (has_pipeline(s))
    config["pipeline"] = {
        {"activation_checkpoint_interval", p.recompute == plan::Recompute::full ? 1 : 0}};
  config["bf16"] = {{"enabled", kDeepspeedDtypes[std::size_t(s.job.param_dtype)] == "bf16"}};
  if (has_bf16_states(s.job)) {
    config["bf16"]["bf16_master_weights_and_grads"] = true;
    if (s.job.moment_dtype == plan::Dtype::bf16) config["bf16"]["bf16_optimizer_states"] = true;
  }
  if (p.offload.activations) config["activation_checkpointing"] = {{"cpu_checkpointing", true}};
  config["fp16"] = {{"enabled", s.job.param_dtype == plan::Dtype::fp16}};
  config["data_types"] = {{"grad_accum_dtype", kDeepspeedDtypes[std::size_t(s.job.grad_dtype)]}};
  config["optimizer"] = {{"type", kDeepspeedOptimizers[std::size_t(s.job.optimizer)]}};
  if (s.job.optimizer == plan::Optimizer::sgd && p.zero > 0)
    config["zero_allow_untested_optimizer"] = true;
  return {{"deepspeed.json", config.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"}};
}

}  // namespace

constinit const Exporter kDeepspeedExporter{
    .target = rules::Target::deepspeed,
    .summary = "DeepSpeed JSON config",
    .states = list_deepspeed_keys,
    .lost = find_unsupported_by_deepspeed,
    .write = write_deepspeed,
};

}  // namespace rankwright::exporter
