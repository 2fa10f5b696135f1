// Writes the part of DeepSpeed's JSON config that a layout decides. The training script sets the
// model, the data and the pipeline degree. JSON has no comments, so the head is a key that
// DeepSpeed ignores. Checked against DeepSpeed 0.19.8.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "rankwright/export/rows.h"
#include "rankwright/export/typed.h"

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
                                                 "job.global_batch",
                                                 "job.param_dtype",
                                                 "job.grad_dtype",
                                                 "job.optimizer"};

constexpr std::string_view kDeepspeedDtypes[] = {"fp32", "bf16", "fp16", "bf16", "fp32"};
constexpr std::string_view kOptimizers[] = {"AdamW", "SGD", "Lion"};

bool has_pipeline(const plan::TrainingConfig& s) { return s.plan.pp > 1; }

bool shards_hybrid(const plan::Plan& p) { return p.zero >= 1 && p.shards() != p.data_ranks(); }

/// Returns whether gradients can be reduced during backward: stage 0 and pipelines reduce them when
/// it is done, whatever overlap_comm says.
bool can_overlap_reduction(const plan::Plan& p) { return p.zero > 0 && p.pp == 1; }

Json zero_optimization(const plan::Plan& p) {
  Json zero{{"stage", p.zero}, {"overlap_comm", p.overlap.grad_reduce && can_overlap_reduction(p)}};
  if (p.zero > 0 && p.bucket_size > 0) zero["reduce_bucket_size"] = p.bucket_size;
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
  const bool whole = p.recompute == plan::Recompute::full && p.recompute_layers == 0;
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
  config["zero_optimization"] = zero_optimization(p);
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
  config["fp16"] = {{"enabled", s.job.param_dtype == plan::Dtype::fp16}};
  config["data_types"] = {{"grad_accum_dtype", kDeepspeedDtypes[std::size_t(s.job.grad_dtype)]}};
  config["optimizer"] = {{"type", kOptimizers[std::size_t(s.job.optimizer)]}};
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
