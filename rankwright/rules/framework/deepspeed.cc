// RW0541..: plans that DeepSpeed refuses, cannot express, or runs differently.
#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/rules/change.h"
#include "rankwright/rules/target_findings.h"

namespace rankwright::rules {
namespace deepspeed_impl {
namespace {

bool combines_pipeline_and_zero_2_or_3(const plan::TrainingConfig& s) {
  return s.plan.pp > 1 && s.plan.zero >= 2;
}

bool has_unsupported_order(const plan::TrainingConfig& s) {
  return !same_order(s, mesh::kDefaultOrder);
}

bool has_unsupported_schedule(const plan::TrainingConfig& s) {
  return s.plan.virtual_stages > 1 ||
         (s.plan.pp > 1 && s.plan.schedule != pipeline::Schedule::one_f_one_b);
}

bool lacks_ulysses(const plan::TrainingConfig& s) {
  return s.plan.cp > 1 && s.plan.cp_comm != plan::CpComm::a2a;
}

bool is_hybrid_sharded(const plan::TrainingConfig& s) {
  return s.plan.zero >= 1 && s.plan.shards() != s.plan.data_ranks();
}

bool shards_experts(const plan::TrainingConfig& s) { return s.plan.ep > 1 && s.plan.etp > 1; }

bool combines_experts_and_tensor(const plan::TrainingConfig& s) {
  const bool offloads = s.plan.offload.optimizer > 0 || s.plan.offload.parameters;
  return s.plan.ep > 1 && s.plan.tp > 1 && (s.plan.pp > 1 || s.plan.cp > 1 || offloads);
}

bool lacks_nvme_path(const plan::TrainingConfig& s) {
  return s.plan.offload.nvme != plan::NvmeStates::none && s.plan.offload.nvme_path.empty();
}

/// The checks that reject a plan; a fix triggers none of them.
constexpr Fault kFaults[] = {combines_pipeline_and_zero_2_or_3,
                             has_unsupported_order,
                             has_unsupported_schedule,
                             lacks_ulysses,
                             is_hybrid_sharded,
                             shards_experts,
                             combines_experts_and_tensor};

bool combines_tensor_and_pipeline(const plan::TrainingConfig& s) {
  return s.plan.tp > 1 && s.plan.pp > 1 && !combines_experts_and_tensor(s);
}

bool uses_pipeline(const plan::TrainingConfig& s) { return s.plan.pp > 1; }

bool recomputes_selectively(const plan::TrainingConfig& s) {
  return s.plan.recompute == plan::Recompute::selective;
}

bool uses_sequence_parallelism(const plan::TrainingConfig& s) {
  return s.plan.tp > 1 && s.plan.sequence_parallel;
}

bool overlaps_pipeline_reduction(const plan::TrainingConfig& s) {
  return s.plan.pp > 1 && s.plan.data_ranks() > 1 && s.plan.overlap.grad_reduce;
}

Finding describe_nvme_path(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("nvme is {}, without nvme_path", name(s.plan.offload.nvme)),
          .key = "parallelism.offload.nvme",
          .hint = "parallelism: {offload: {nvme_path: /local_nvme}}"};
}

Finding describe_pipeline_zero(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("zero_stage {} with PP {}", s.plan.zero, s.plan.pp),
          .key = "parallelism.zero_stage",
          .fix = first_fix(s, combines_pipeline_and_zero_2_or_3, kFaults, {Change(s).zero(1)}),
          .hint = "zero_stage: 1"};
}

Finding describe_order(const plan::TrainingConfig& s) {
  return describe_fixed_order(s, has_unsupported_order, kFaults);
}

Finding describe_schedule(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("{} with {} per PP rank", name(s.plan.schedule),
                                plural(s.plan.virtual_stages, "virtual stage", "virtual stages")),
          .key = "parallelism.schedule",
          .fix = first_fix(s, has_unsupported_schedule, kFaults,
                           {Change(s).chunks(1, pipeline::Schedule::one_f_one_b),
                            Change(s).chunks(1, pipeline::Schedule::one_f_one_b).even_stages()}),
          .hint = "schedule: 1f1b, virtual_stages: 1"};
}

Finding describe_ring(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  return {.detail = fmt::format("CP {} with cp_comm {}", p.cp, name(p.cp_comm)),
          .key = "parallelism.cp_comm",
          .fix = first_fix(s, lacks_ulysses, kFaults,
                           {Change(s).cp_comm(plan::CpComm::a2a),
                            Change(s).cp(1).degrees(p.tp, p.pp, p.dp * p.cp)}),
          .hint = "cp_comm: a2a, with a cp_size that divides the heads"};
}

Finding describe_hybrid(const plan::TrainingConfig& s) {
  return {
      .detail = fmt::format("shard_size {} of {} data ranks", s.plan.shard_size,
                            count(s.plan.data_ranks())),
      .key = "parallelism.shard_size",
      .fix = first_fix(s, is_hybrid_sharded, kFaults, {Change(s).shard_size(s.plan.data_ranks())}),
      .hint = "remove shard_size"};
}

Finding describe_cut_experts(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("ETP {} with EP {}", s.plan.etp, s.plan.ep),
          .key = "parallelism.etp_size",
          .fix = first_fix(s, shards_experts, kFaults, {Change(s).experts(s.plan.ep, 1)}),
          .hint = "etp_size: 1"};
}

Finding describe_experts_tensor(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("TP {} with EP {}, PP {} and CP {}", s.plan.tp, s.plan.ep,
                                s.plan.pp, s.plan.cp),
          .key = "parallelism.tp_size",
          .fix = fix_by_degrees(s, combines_experts_and_tensor, kFaults),
          .hint = "tp_size: 1"};
}

Finding describe_tensor_pipeline(const plan::TrainingConfig& s) {
  return {
      .detail = fmt::format("TP {} with PP {}", s.plan.tp, s.plan.pp),
      .key = "parallelism.tp_size",
      .hint =
          "tp_size: 1 or pp_size: 1; or define the topology in code, as Megatron-DeepSpeed does"};
}

Finding describe_pipeline(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("the JSON config has no key for PP {}", s.plan.pp),
          .key = "parallelism.pp_size",
          .hint = fmt::format("PipelineModule(num_stages={}, ...)", s.plan.pp)};
}

Finding describe_stages(const plan::TrainingConfig& s) {
  return describe_fixed_stages(s, uneven_stages, kFaults);
}

Finding describe_selective(const plan::TrainingConfig& s) {
  return describe_whole_layer_recompute(s, recomputes_selectively, kFaults);
}

Finding describe_tensor_sequence(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("sequence_parallel: true with TP {}", s.plan.tp),
          .key = "parallelism.sequence_parallel",
          .fix = first_fix(s, uses_sequence_parallelism, kFaults,
                           {Change(s).sequence_parallel(false)})};
}

Finding describe_pipeline_overlap(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("overlap.grad_reduce: true with PP {}", s.plan.pp),
          .key = "parallelism.overlap.grad_reduce",
          .fix = first_fix(s, overlaps_pipeline_reduction, kFaults,
                           {Change(s).overlap_grad_reduce(false)})};
}

constexpr Rule::When kWithoutViolations = Rule::When::without_violations;

constexpr Rule kRules[] = {
    {{"RW0541", Severity::error, "DeepSpeed pipelines do not support ZeRO-2 or ZeRO-3",
      "The pipeline accumulates gradients over micro-batches; ZeRO-2 reduces and frees them after "
      "each one. DeepSpeed stops with an assertion.",
      "Set zero_stage: 1.", "DeepSpeed runtime/pipe/engine.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 2, dp_size: 4, zero_stage: 2}\n"},
     Target::deepspeed,
     kWithoutViolations,
     when<combines_pipeline_and_zero_2_or_3, describe_pipeline_zero>,
     combines_pipeline_and_zero_2_or_3,
     false,
     Rule::Depends::zero},
    {{"RW0542", Severity::error, "DeepSpeed supports only one rank order",
      "Its topology is pipe, data, model with model innermost. Groups of TP, sequence and experts "
      "are adjacent ranks.",
      "Remove `order` to use the default. To move ranks to other devices, change `placement`.",
      "DeepSpeed runtime/pipe/topology.py, PipeModelDataParallelTopology; utils/groups.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 2, dp_size: 4, order: tp-pp-dp}\n"},
     Target::deepspeed,
     kWithoutViolations,
     when<has_unsupported_order, describe_order>,
     has_unsupported_order,
     false,
     Rule::Depends::order},
    {{"RW0543", Severity::error, "DeepSpeed pipelines support only 1F1B without virtual stages",
      "TrainSchedule is the only training schedule, and each rank holds one stage.",
      "Set schedule: 1f1b and virtual_stages: 1.",
      "DeepSpeed runtime/pipe/schedule.py; pull request 8576 (DualPipeV) is open",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 2, dp_size: 4, virtual_stages: 2}\n"},
     Target::deepspeed,
     kWithoutViolations,
     when<has_unsupported_schedule, describe_schedule>,
     has_unsupported_schedule,
     false,
     Rule::Depends::schedule},
    {{"RW0544", Severity::error, "DeepSpeed supports only Ulysses for context parallelism",
      "sequence_parallel_size exchanges sequence shards for head shards by all-to-all. DeepSpeed "
      "has no ring and no all-gather variant.",
      "Set cp_comm: a2a.", "DeepSpeed-Ulysses; utils/groups.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {cp_size: 2, dp_size: 4, cp_comm: p2p}\n"},
     Target::deepspeed,
     kWithoutViolations,
     when<lacks_ulysses, describe_ring>,
     lacks_ulysses},
    {{"RW0546", Severity::error, "DeepSpeed does not support hybrid sharding",
      "DeepSpeed 0.19.8 removed MiCS, and stops at mics_shard_size. zero_hpz_partition_size is "
      "different: it keeps a second copy of the parameters.",
      "Remove shard_size.", "DeepSpeed runtime/config.py, _REMOVED_ZERO_CONFIG_KEYS; issue 8489",
      "world_size: 16\n"
      "model: llama-3.2-1b\n"
      "parallelism: {dp_size: 16, zero_stage: 2, shard_size: 8}\n"},
     Target::deepspeed,
     kWithoutViolations,
     when<is_hybrid_sharded, describe_hybrid>,
     is_hybrid_sharded},
    {{"RW0547", Severity::error, "DeepSpeed does not support expert tensor parallelism",
      "AutoEP rejects any expert_tensor_parallel_size but 1.", "Set etp_size: 1.",
      "DeepSpeed auto_ep_folding.py, validate_folding_global",
      "world_size: 8\n"
      "model: {architecture: mixtral, hidden: 1024, layers: 8, heads: 16, kv_heads: 8, "
      "expert_ffn: 2048, vocab: 32768, experts: 8, active_experts: 2}\n"
      "parallelism: {tp_size: 2, dp_size: 4, ep_size: 2, etp_size: 2, sequence_parallel: false}\n"},
     Target::deepspeed,
     kWithoutViolations,
     when<shards_experts, describe_cut_experts>,
     shards_experts},
    {{"RW0548", Severity::error,
      "DeepSpeed supports EP with TP only without a pipeline, Ulysses and offload",
      "AutoEP with tensor parallelism rejects PP above 1, sequence parallelism across ranks, and "
      "states on the host.",
      "Set tp_size: 1.", "DeepSpeed auto_ep_folding.py, validate_folding_global",
      "world_size: 16\n"
      "model: {architecture: mixtral, hidden: 1024, layers: 8, heads: 16, kv_heads: 8, "
      "expert_ffn: 2048, vocab: 32768, experts: 8, active_experts: 2}\n"
      "parallelism: {tp_size: 2, pp_size: 2, dp_size: 4, ep_size: 2, sequence_parallel: false}\n"},
     Target::deepspeed,
     kWithoutViolations,
     when<combines_experts_and_tensor, describe_experts_tensor>,
     combines_experts_and_tensor},
    {{"RW0590", Severity::error, "DeepSpeed needs the path of the NVMe drives",
      "It creates its files below nvme_path on every node, and stops without it.",
      "Set offload.nvme_path to a directory on the drives.",
      "DeepSpeed partition_parameters.py, _validate_remote_device; stage3.py, "
      "_configure_tensor_swapping",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {dp_size: 8, zero_stage: 3, offload: {optimizer: true, nvme: optimizer}}\n"},
     Target::deepspeed,
     kWithoutViolations,
     when<lacks_nvme_path, describe_nvme_path>,
     lacks_nvme_path},
    {{"RW0549", Severity::warning, "DeepSpeed AutoTP does not support pipelines",
      "Its mesh has a data and a tensor axis. Tensor parallelism with PipelineModule needs "
      "user-defined layers and a topology.",
      "Set tp_size: 1 or pp_size: 1, or use Megatron-DeepSpeed.",
      "DeepSpeed utils/groups.py, _init_tp_mesh_device; issue 7147",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 2, pp_size: 2, dp_size: 2, sequence_parallel: false}\n"},
     Target::deepspeed,
     kWithoutViolations,
     when<combines_tensor_and_pipeline, describe_tensor_pipeline>,
     combines_tensor_and_pipeline},
    {{"RW0550", Severity::note, "DeepSpeed sets the pipeline degree in code",
      "The JSON config has no key for it: the training script builds a PipelineModule.",
      "Pass num_stages to PipelineModule in the training script.",
      "DeepSpeed runtime/pipe/module.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 2, dp_size: 4}\n"},
     Target::deepspeed,
     kWithoutViolations,
     when<uses_pipeline, describe_pipeline>,
     uses_pipeline},
    {{"RW0551", Severity::warning, "DeepSpeed does not support a list of stages",
      "partition_method decides the layers of each stage: it balances parameters, all layers, or "
      "layers of one type.",
      "Remove `stages`, and set partition_method to uniform.", "DeepSpeed runtime/pipe/module.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 2, dp_size: 4, stages: [9, 7]}\n"},
     Target::deepspeed,
     kWithoutViolations,
     when<uneven_stages, describe_stages>,
     uneven_stages},
    {{"RW0552", Severity::warning, "DeepSpeed has no selective recomputation",
      "It recomputes whole layers: with activation_checkpoint_interval in a pipeline, otherwise in "
      "the model's code.",
      "Set recompute: full, or recompute selectively in the model's code.",
      "DeepSpeed runtime/pipe/module.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {dp_size: 8, recompute: selective}\n"},
     Target::deepspeed,
     kWithoutViolations,
     when<recomputes_selectively, describe_selective>,
     recomputes_selectively},
    {{"RW0553", Severity::warning, "DeepSpeed AutoTP has no sequence parallelism over TP ranks",
      "It all-reduces whole activations, and each TP rank holds the norms' activations in full. "
      "sequence_parallel_size is Ulysses: cp_size in a plan.",
      "Set sequence_parallel: false.", "DeepSpeed utils/groups.py, _init_tp_mesh_device",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 2, dp_size: 4, sequence_parallel: true}\n"},
     Target::deepspeed,
     kWithoutViolations,
     when<uses_sequence_parallelism, describe_tensor_sequence>,
     uses_sequence_parallelism,
     false,
     Rule::Depends::sequence_parallel},
    {{"RW0554", Severity::note, "DeepSpeed pipelines do not overlap the gradient reduction",
      "The pipeline engine turns off the all-reduce during the backward pass and reduces gradients "
      "at the end of the step.",
      "Set overlap.grad_reduce: false, so that the estimate counts the reduction as exposed.",
      "DeepSpeed runtime/pipe/engine.py, enable_backward_allreduce",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 2, dp_size: 4}\n"},
     Target::deepspeed,
     kWithoutViolations,
     when<overlaps_pipeline_reduction, describe_pipeline_overlap>,
     overlaps_pipeline_reduction},
};

}  // namespace
}  // namespace deepspeed_impl

std::span<const Rule> deepspeed_rules() { return deepspeed_impl::kRules; }

}  // namespace rankwright::rules
