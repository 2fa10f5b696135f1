// Writes accelerate's YAML config for FSDP2 with a ParallelismConfig, or for DDP. The training
// script sets model, batch and optimizer. Checked against accelerate 1.15 dev.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/export/framework/torchtitan.h"
#include "rankwright/export/rows.h"
#include "rankwright/export/typed.h"

namespace rankwright::exporter {
namespace {

constexpr std::string_view kAccelerateStates[] = {"parallelism.tp_size",
                                                  "parallelism.cp_size",
                                                  "parallelism.pp_size",
                                                  "parallelism.dp_size",
                                                  "parallelism.ep_size",
                                                  "parallelism.etp_size",
                                                  "parallelism.order",
                                                  "parallelism.zero_stage",
                                                  "parallelism.shard_size",
                                                  "parallelism.sequence_parallel",
                                                  "parallelism.cp_comm",
                                                  "parallelism.recompute",
                                                  "parallelism.offload.optimizer",
                                                  "parallelism.offload.parameters",
                                                  "job.param_dtype",
                                                  "job.grad_dtype"};

constexpr std::string_view kAccelerateDtypes[] = {"'no'", "bf16", "fp16", "bf16", "'no'"};

/// Returns whether every data rank is a shard of its own. FSDP refuses such shards, and they are
/// what DDP does.
bool has_shards_of_one(const plan::Plan& p) { return p.cp == 1 && p.shards() == 1 && p.dp > 1; }

bool uses_ddp(const plan::Plan& p) { return p.zero == 0 || has_shards_of_one(p); }

/// Returns the type that gradients are reduced in: fp32 with DDP, the parameters' type with FSDP.
plan::Dtype reduction_dtype(const plan::TrainingConfig& s) {
  return uses_ddp(s.plan) ? plan::Dtype::fp32 : s.job.param_dtype;
}

std::span<const std::string_view> list_accelerate_keys() { return kAccelerateStates; }

std::vector<UnsupportedSetting> find_unsupported_by_accelerate(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  constexpr std::string_view kScript = "set in the training script";
  std::vector<UnsupportedSetting> lost;
  if (s.model.sparse() && p.etp != p.tp)
    lost.push_back({"parallelism.etp_size", "experts are split like dense layers"});
  if (p.zero >= 1 && !divides(p.cp, p.shards()))
    lost.push_back({"parallelism.shard_size", "it shards over dp_shard x CP ranks"});
  if (p.zero >= 1 && has_shards_of_one(p))
    for (const char* const key : {"parallelism.zero_stage", "parallelism.shard_size"})
      lost.push_back({key, "a shard of one rank is unsharded data parallelism"});
  if (uses_ddp(p) && p.recompute != plan::Recompute::none)
    lost.push_back({"parallelism.recompute", "without FSDP, the model's code recomputes"});
  for (const std::string_view key :
       {"parallelism.micro_batch", "job.global_batch", "job.sequence", "job.optimizer"})
    lost.push_back({std::string(key), std::string(kScript)});
  constexpr std::string_view kTogether = "FSDP offloads parameters and optimizer states together";
  if (p.offload.optimizer > 0 && (!p.offload.states() || uses_ddp(p)))
    lost.push_back({"parallelism.offload.optimizer", std::string(kTogether)});
  if (p.offload.parameters && (!p.offload.states() || uses_ddp(p)))
    lost.push_back({"parallelism.offload.parameters", std::string(kTogether)});
  if (s.software.fsdp && s.software.hf_modeling &&
      s.software.accumulation == plan::Accumulation::shards)
    lost.push_back({"software.sync_each_batch", std::string(kScript)});
  if (!s.reference_model) lost.push_back({"model", std::string(kScript)});
  const bool kept = s.job.param_dtype != plan::Dtype::fp8 && s.job.param_dtype != plan::Dtype::fp64;
  if (!kept) lost.push_back({"job.param_dtype", "it gathers parameters in 16 or 32 bits"});
  if (s.job.grad_dtype != reduction_dtype(s) || !kept)
    lost.push_back({"job.grad_dtype",
                    uses_ddp(p) ? "DDP keeps gradients in fp32"
                                : "gradients are reduced in the format of the parameter gather"});
  return lost;
}

std::vector<ExportFile> write_accelerate(const plan::TrainingConfig& s, const ExportOptions&,
                                         const std::vector<std::string>& head) {
  const plan::Plan& p = s.plan;
  const DataRankSplit data = split_data_ranks(p);
  const i64 host = std::max<i64>(1, s.cluster.host_devices);
  std::string text = write_comments(head, "#");
  const auto add = [&](std::string_view key, const auto& value) {
    text += fmt::format("{}: {}\n", key, value);
  };
  add("compute_environment", "LOCAL_MACHINE");
  add("distributed_type", uses_ddp(p) ? "MULTI_GPU" : "FSDP");
  add("num_machines", ceil_div(s.world, host));
  add("num_processes", s.world);
  add("mixed_precision", kAccelerateDtypes[std::size_t(s.job.param_dtype)]);
  if (!uses_ddp(p)) {
    text += "fsdp_config:\n";
    add("  fsdp_version", 2);
    add("  fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
    add("  fsdp_reshard_after_forward", write_yaml_value(p.zero == 3));
    add("  fsdp_activation_checkpointing", write_yaml_value(p.recompute == plan::Recompute::full));
    add("  fsdp_offload_params", write_yaml_value(p.offload.states()));
    add("  fsdp_state_dict_type", "SHARDED_STATE_DICT");
  }
  text += "parallelism_config:\n";
  add("  parallelism_config_dp_replicate_size", data.replicas);
  add("  parallelism_config_dp_shard_size", data.shards);
  add("  parallelism_config_cp_size", p.cp);
  if (p.cp > 1)
    add("  parallelism_config_cp_comm_strategy",
        p.cp_comm == plan::CpComm::p2p ? "alltoall" : "allgather");
  add("  parallelism_config_tp_size", p.tp);
  return {{"accelerate.yaml", text}};
}

}  // namespace

constinit const Exporter kAccelerateExporter{
    .target = rules::Target::accelerate,
    .summary = "accelerate YAML config for FSDP2",
    .states = list_accelerate_keys,
    .lost = find_unsupported_by_accelerate,
    .write = write_accelerate,
};

}  // namespace rankwright::exporter
