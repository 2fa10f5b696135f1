// RW0581..: plans that accelerate refuses, cannot express, or runs differently. Covers its own
// axes, FSDP2 with a ParallelismConfig; its DeepSpeed and Megatron-LM backends have rules of their
// own.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/rules/change.h"
#include "rankwright/rules/target_findings.h"

namespace rankwright::rules {
namespace accelerate_impl {
namespace {

bool uses_pipeline(const plan::TrainingConfig& s) { return s.plan.pp > 1; }

bool uses_expert_parallelism(const plan::TrainingConfig& s) { return s.plan.ep > 1; }

bool uses_zero_1(const plan::TrainingConfig& s) { return s.plan.zero == 1; }

/// DDP, and replicas of one data rank, cannot be combined with other axes; context parallelism
/// requires FSDP2.
bool combines_plain_dp(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  if (p.zero == 0) return p.cp > 1 || (p.tp > 1 && p.dp > 1);
  return p.dp > 1 && p.shards() <= p.cp && (p.tp > 1 || p.cp > 1);
}

bool has_unsupported_order(const plan::TrainingConfig& s) {
  return !same_order(s, mesh::kDefaultOrder);
}

bool uses_ulysses(const plan::TrainingConfig& s) {
  return s.plan.cp > 1 && s.plan.cp_comm == plan::CpComm::a2a;
}

/// The checks that reject a plan; a fix triggers none of them.
constexpr Fault kFaults[] = {uses_pipeline,     uses_expert_parallelism, uses_zero_1,
                             combines_plain_dp, has_unsupported_order,   uses_ulysses};

bool recomputes_selectively(const plan::TrainingConfig& s) {
  return s.plan.recompute == plan::Recompute::selective;
}

bool recomputes_some_layers(const plan::TrainingConfig& s) {
  return s.plan.recompute == plan::Recompute::full && s.plan.recompute_layers > 0;
}

bool uses_sequence_parallelism(const plan::TrainingConfig& s) {
  return s.plan.tp > 1 && s.plan.sequence_parallel;
}

Finding describe_pipeline(const plan::TrainingConfig& s) {
  return {
      .detail = fmt::format("PP is {}", s.plan.pp),
      .key = "parallelism.pp_size",
      .fix = fix_by_degrees(s, uses_pipeline, kFaults,
                            [](const plan::TrainingConfig& after) { return after.plan.pp == 1; }),
      .hint = "pp_size: 1"};
}

Finding describe_experts(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("EP is {}", s.plan.ep),
          .key = "parallelism.ep_size",
          .fix = first_fix(s, uses_expert_parallelism, kFaults, {Change(s).experts(1, s.plan.tp)}),
          .hint = "ep_size: 1"};
}

Finding describe_zero_one(const plan::TrainingConfig& s) {
  return {.detail =
              fmt::format("zero_stage 1 over {}",
                          plural(s.plan.data_ranks(), "data-parallel rank", "data-parallel ranks")),
          .key = "parallelism.zero_stage",
          .fix = first_fix(s, uses_zero_1, kFaults, {Change(s).zero(2), Change(s).zero(3)}),
          .hint = "zero_stage: 2 or 3"};
}

Finding describe_plain_dp(const plan::TrainingConfig& s) {
  if (s.plan.zero > 0)
    return {
        .detail = fmt::format("shard_size {} with CP {} leaves one data rank per shard, with TP "
                              "{} and DP {}",
                              s.plan.shards(), s.plan.cp, s.plan.tp, s.plan.dp),
        .key = "parallelism.shard_size",
        .hint = fmt::format("remove shard_size, or set {} or more", 2 * s.plan.cp)};
  return {.detail = fmt::format("zero_stage 0 with TP {}, CP {} and DP {}", s.plan.tp, s.plan.cp,
                                s.plan.dp),
          .key = "parallelism.zero_stage",
          .fix = first_fix(s, combines_plain_dp, kFaults, {Change(s).zero(2), Change(s).zero(3)}),
          .hint = "zero_stage: 2 or 3"};
}

Finding describe_order(const plan::TrainingConfig& s) {
  return describe_fixed_order(s, has_unsupported_order, kFaults);
}

Finding describe_ulysses(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("CP {} with cp_comm a2a", s.plan.cp),
          .key = "parallelism.cp_comm",
          .fix = first_fix(
              s, uses_ulysses, kFaults,
              {Change(s).cp_comm(plan::CpComm::all_gather), Change(s).cp_comm(plan::CpComm::p2p)}),
          .hint = "cp_comm: all_gather"};
}

Finding describe_selective(const plan::TrainingConfig& s) {
  return describe_whole_layer_recompute(s, recomputes_selectively, kFaults);
}

Finding describe_some_layers(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("recompute covers {} per rank; accelerate recomputes all or none",
                                plural(s.plan.recompute_layers, "layer", "layers")),
          .key = "parallelism.recompute",
          .fix = first_fix(s, recomputes_some_layers, kFaults,
                           {Change(s).recompute(plan::Recompute::full)})};
}

Finding describe_tensor_sequence(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("sequence_parallel: true with TP {}", s.plan.tp),
          .key = "parallelism.sequence_parallel",
          .fix = first_fix(s, uses_sequence_parallelism, kFaults,
                           {Change(s).sequence_parallel(false)})};
}

constexpr Rule::When kWithoutViolations = Rule::When::without_violations;

constexpr Rule kRules[] = {
    {{"RW0581", Severity::error, "accelerate has no pipeline",
      "Its mesh is dp_replicate, dp_shard, cp, tp. Pipelines need Megatron-LM as the backend.",
      "Set pp_size: 1, and raise tp_size or set zero_stage: 3.", "accelerate parallelism_config.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 2, dp_size: 4}\n"},
     Target::accelerate,
     kWithoutViolations,
     when<uses_pipeline, describe_pipeline>,
     uses_pipeline},
    {{"RW0582", Severity::error, "accelerate has no expert parallelism",
      "A ParallelismConfig has no expert axis.", "Set ep_size: 1.",
      "accelerate parallelism_config.py",
      "world_size: 8\n"
      "model: {architecture: mixtral, hidden: 1024, layers: 8, heads: 16, kv_heads: 8, "
      "expert_ffn: 2048, vocab: 32768, experts: 8, active_experts: 2}\n"
      "parallelism: {dp_size: 8, ep_size: 4, zero_stage: 3}\n"},
     Target::accelerate,
     kWithoutViolations,
     when<uses_expert_parallelism, describe_experts>,
     uses_expert_parallelism},
    {{"RW0583", Severity::error, "accelerate has no ZeRO-1",
      "FSDP2 shards parameters, gradients and optimizer states together. It acts like ZeRO-2 if "
      "parameters stay gathered after the forward pass, and like ZeRO-3 if they are resharded.",
      "Set zero_stage: 2 (fsdp_reshard_after_forward: false) or zero_stage: 3 (true).",
      "accelerate utils/dataclasses.py, FullyShardedDataParallelPlugin",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {dp_size: 8, zero_stage: 1}\n"},
     Target::accelerate,
     kWithoutViolations,
     when<uses_zero_1, describe_zero_one>,
     uses_zero_1,
     false,
     Rule::Depends::zero},
    {{"RW0584", Severity::error,
      "accelerate does not combine unsharded data parallelism with TP or CP",
      "accelerate rejects TP or CP with unsharded replicas. Context parallelism needs FSDP2.",
      "Set zero_stage: 2 or zero_stage: 3.", "accelerate parallelism_config.py, __post_init__",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 2, dp_size: 4, zero_stage: 0, sequence_parallel: false}\n"},
     Target::accelerate,
     kWithoutViolations,
     when<combines_plain_dp, describe_plain_dp>,
     combines_plain_dp},
    {{"RW0585", Severity::error, "accelerate supports only one rank order",
      "Its device mesh is dp_replicate, dp_shard, cp, tp with tp innermost.",
      "Remove `order` to use the default. To move ranks to other devices, change `placement`.",
      "accelerate parallelism_config.py, _get_mesh",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 2, dp_size: 4, order: dp-tp, zero_stage: 3, sequence_parallel: "
      "false}\n"},
     Target::accelerate,
     kWithoutViolations,
     when<has_unsupported_order, describe_order>,
     has_unsupported_order,
     false,
     Rule::Depends::order},
    {{"RW0586", Severity::error, "accelerate supports Ulysses with DeepSpeed only",
      "parallelism_config_cp_size is PyTorch's ring attention, which gathers or rotates keys and "
      "values. parallelism_config_sp_size is Ulysses, and needs the DeepSpeed backend.",
      "Set cp_comm: all_gather, or export --to deepspeed.", "accelerate parallelism_config.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {cp_size: 2, dp_size: 4, cp_comm: a2a, zero_stage: 3}\n"},
     Target::accelerate,
     kWithoutViolations,
     when<uses_ulysses, describe_ulysses>,
     uses_ulysses},
    {{"RW0587", Severity::warning, "accelerate has no selective recomputation",
      "fsdp_activation_checkpointing recomputes whole wrapped layers.",
      "Set recompute: full, or recompute selectively in the model's code.",
      "accelerate utils/dataclasses.py, FullyShardedDataParallelPlugin",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {dp_size: 8, zero_stage: 3, recompute: selective}\n"},
     Target::accelerate,
     kWithoutViolations,
     when<recomputes_selectively, describe_selective>,
     recomputes_selectively},
    {{"RW0588", Severity::warning, "accelerate recomputes all layers or none",
      "fsdp_activation_checkpointing applies to the whole model.", "Set recompute: full.",
      "accelerate utils/dataclasses.py, FullyShardedDataParallelPlugin",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {dp_size: 8, zero_stage: 3, recompute: {full: 4}}\n"},
     Target::accelerate,
     kWithoutViolations,
     when<recomputes_some_layers, describe_some_layers>,
     recomputes_some_layers},
    {{"RW0589", Severity::warning, "accelerate has no setting for sequence parallelism",
      "The model's tensor-parallel plan in transformers decides it, and none is known to split the "
      "norms along the sequence. Each TP rank then holds their activations in full.",
      "Set sequence_parallel: false.", "accelerate parallelism_config.py, tp_handler",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 2, dp_size: 4, zero_stage: 3, sequence_parallel: true}\n"},
     Target::accelerate,
     kWithoutViolations,
     when<uses_sequence_parallelism, describe_tensor_sequence>,
     uses_sequence_parallelism,
     false,
     Rule::Depends::sequence_parallel},
};

}  // namespace
}  // namespace accelerate_impl

std::span<const Rule> accelerate_rules() { return accelerate_impl::kRules; }

}  // namespace rankwright::rules
