// RW0541..: what DeepSpeed refuses, cannot express, or does otherwise than the plan says.
#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/rules/change.h"
#include "rankwright/rules/target_findings.h"

namespace rankwright::rules {
namespace deepspeed_impl {
namespace {

bool pipeline_zero(const plan::TrainingConfig& s) { return s.plan.pp > 1 && s.plan.zero >= 2; }

bool order(const plan::TrainingConfig& s) { return !same_order(s, mesh::kDefaultOrder); }

bool schedule(const plan::TrainingConfig& s) {
  return s.plan.virtual_stages > 1 ||
         (s.plan.pp > 1 && s.plan.schedule != pipeline::Schedule::one_f_one_b);
}

bool ring(const plan::TrainingConfig& s) {
  return s.plan.cp > 1 && s.plan.cp_comm != plan::CpComm::a2a;
}

bool tensor_zero_three(const plan::TrainingConfig& s) { return s.plan.tp > 1 && s.plan.zero == 3; }

bool hybrid(const plan::TrainingConfig& s) {
  return s.plan.zero >= 1 && s.plan.zero < 3 && s.plan.shards() != s.plan.data_ranks();
}

bool cut_experts(const plan::TrainingConfig& s) { return s.plan.ep > 1 && s.plan.etp > 1; }

bool experts_tensor(const plan::TrainingConfig& s) {
  return s.plan.ep > 1 && s.plan.tp > 1 && (s.plan.pp > 1 || s.plan.cp > 1);
}

/// What it stops at; a fix brings none of these.
constexpr Fault kFaults[] = {pipeline_zero,     order,  schedule,    ring,
                             tensor_zero_three, hybrid, cut_experts, experts_tensor};

bool tensor_pipeline(const plan::TrainingConfig& s) {
  return s.plan.tp > 1 && s.plan.pp > 1 && !experts_tensor(s);
}

bool pipeline(const plan::TrainingConfig& s) { return s.plan.pp > 1; }

bool selective(const plan::TrainingConfig& s) {
  return s.plan.recompute == plan::Recompute::selective;
}

bool tensor_sequence(const plan::TrainingConfig& s) {
  return s.plan.tp > 1 && s.plan.sequence_parallel;
}

bool pipeline_overlap(const plan::TrainingConfig& s) {
  return s.plan.pp > 1 && s.plan.data_ranks() > 1 && s.plan.overlap.grad_reduce;
}

Finding tell_pipeline_zero(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("zero_stage {} with pp {}", s.plan.zero, s.plan.pp),
          .key = "parallelism.zero_stage",
          .fix = first_mend(s, pipeline_zero, kFaults, {Change(s).zero(1)}),
          .hint = "zero_stage: 1"};
}

Finding tell_order(const plan::TrainingConfig& s) { return order_is_fixed(s, order, kFaults); }

Finding tell_schedule(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("{} with {} a pp rank", name(s.plan.schedule),
                                plural(s.plan.virtual_stages, "chunk", "chunks")),
          .key = "parallelism.schedule",
          .fix = first_mend(s, schedule, kFaults,
                            {Change(s).chunks(1, pipeline::Schedule::one_f_one_b),
                             Change(s).chunks(1, pipeline::Schedule::one_f_one_b).even_stages()}),
          .hint = "schedule: 1f1b, virtual_stages: 1"};
}

Finding tell_ring(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  return {.detail = fmt::format("cp {} with cp_comm {}", p.cp, name(p.cp_comm)),
          .key = "parallelism.cp_comm",
          .fix = first_mend(s, ring, kFaults,
                            {Change(s).cp_comm(plan::CpComm::a2a),
                             Change(s).cp(1).degrees(p.tp, p.pp, p.dp * p.cp)}),
          .hint = "cp_comm: a2a, with a cp that divides the heads"};
}

Finding tell_tensor_zero_three(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("tp {} with zero_stage 3", s.plan.tp),
          .key = "parallelism.zero_stage",
          .fix = first_mend(s, tensor_zero_three, kFaults, {Change(s).zero(2), Change(s).zero(1)}),
          .hint = "zero_stage: 2, or tp_size: 1"};
}

Finding tell_hybrid(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("shard_size {} with zero_stage {}", s.plan.shard_size, s.plan.zero),
          .key = "parallelism.shard_size",
          .fix = first_mend(s, hybrid, kFaults,
                            {Change(s).zero(3), Change(s).shard_size(s.plan.data_ranks())}),
          .hint = "zero_stage: 3, or no shard_size"};
}

Finding tell_cut_experts(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("etp {} with ep {}", s.plan.etp, s.plan.ep),
          .key = "parallelism.etp_size",
          .fix = first_mend(s, cut_experts, kFaults, {Change(s).experts(s.plan.ep, 1)}),
          .hint = "etp_size: 1"};
}

Finding tell_experts_tensor(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("tp {} with ep {}, pp {} and cp {}", s.plan.tp, s.plan.ep,
                                s.plan.pp, s.plan.cp),
          .key = "parallelism.tp_size",
          .fix = mending_degrees(s, experts_tensor, kFaults),
          .hint = "tp_size: 1"};
}

Finding tell_tensor_pipeline(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("tp {} with pp {}", s.plan.tp, s.plan.pp),
          .key = "parallelism.tp_size",
          .hint = "tp_size: 1 or pp_size: 1; or a topology of your own, as Megatron-DeepSpeed has"};
}

Finding tell_pipeline(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("its JSON has no key for pp {}", s.plan.pp),
          .key = "parallelism.pp_size",
          .hint = fmt::format("PipelineModule(num_stages={}, ...)", s.plan.pp)};
}

Finding tell_stages(const plan::TrainingConfig& s) {
  return stages_cannot_be_stated(s, uneven_stages, kFaults);
}

Finding tell_selective(const plan::TrainingConfig& s) {
  return recompute_is_whole(s, selective, kFaults);
}

Finding tell_tensor_sequence(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("sequence_parallel is on with tp {}", s.plan.tp),
          .key = "parallelism.sequence_parallel",
          .fix = first_mend(s, tensor_sequence, kFaults, {Change(s).sequence_parallel(false)})};
}

Finding tell_pipeline_overlap(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("overlap.grad_reduce is on with pp {}", s.plan.pp),
          .key = "parallelism.overlap.grad_reduce",
          .fix = first_mend(s, pipeline_overlap, kFaults, {Change(s).overlap_grad_reduce(false)})};
}

constexpr Rule::When kSound = Rule::When::without_misfits;

constexpr Rule kRules[] = {
    {{"RW0541", Severity::error, "DeepSpeed has no ZeRO-2 or ZeRO-3 with a pipeline",
      "Its pipeline accumulates gradients over microbatches, which stage 2 would reduce and free "
      "after each. The engine asserts.",
      "Use zero_stage: 1.", "DeepSpeed runtime/pipe/engine.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 2, dp_size: 4, zero_stage: 2}\n"},
     Target::deepspeed,
     kSound,
     when<pipeline_zero, tell_pipeline_zero>,
     pipeline_zero},
    {{"RW0542", Severity::error, "DeepSpeed numbers ranks in one order only",
      "Its topologies are pipe, data, model with model innermost; groups of tp, sequence and "
      "experts are made of neighbouring ranks.",
      "Use the default order; what else was wanted is a matter of the placement.",
      "DeepSpeed runtime/pipe/topology.py, PipeModelDataParallelTopology; utils/groups.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 2, dp_size: 4, order: tp-pp-dp}\n"},
     Target::deepspeed,
     kSound,
     when<order, tell_order>,
     order},
    {{"RW0543", Severity::error, "DeepSpeed pipelines run 1F1B without chunks",
      "TrainSchedule is the only schedule for training, and a rank holds one stage.",
      "Use schedule: 1f1b and virtual_stages: 1.",
      "DeepSpeed runtime/pipe/schedule.py; pull request 8576 (DualPipeV) is open",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 2, dp_size: 4, virtual_stages: 2}\n"},
     Target::deepspeed,
     kSound,
     when<schedule, tell_schedule>,
     schedule},
    {{"RW0544", Severity::error, "DeepSpeed cuts sequences by Ulysses only",
      "sequence_parallel_size trades sequence for heads by all-to-all; there is no ring and no "
      "gather.",
      "Use cp_comm: a2a.", "DeepSpeed-Ulysses; utils/groups.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {cp_size: 2, dp_size: 4, cp_comm: p2p}\n"},
     Target::deepspeed,
     kSound,
     when<ring, tell_ring>,
     ring},
    {{"RW0545", Severity::error, "DeepSpeed AutoTP does not train with ZeRO-3",
      "The engine asserts a stage of at most 2 where tensor parallelism is on.",
      "Use zero_stage: 2, or tp_size: 1 and let ZeRO-3 shard.",
      "DeepSpeed runtime/engine.py, _configure_tensor_parallel_states",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 2, dp_size: 4, zero_stage: 3, sequence_parallel: false}\n"},
     Target::deepspeed,
     kSound,
     when<tensor_zero_three, tell_tensor_zero_three>,
     tensor_zero_three},
    {{"RW0546", Severity::error, "DeepSpeed shards in neighbourhoods only with ZeRO-3",
      "mics_shard_size shards parameters, gradients and states inside a neighbourhood, for stage "
      "3. "
      "zero_hpz_partition_size is something else: a second copy of the parameters.",
      "Use zero_stage: 3, or leave shard_size out.", "DeepSpeed runtime/zero/mics_utils.py",
      "world_size: 16\n"
      "model: llama-3.2-1b\n"
      "parallelism: {dp_size: 16, zero_stage: 2, shard_size: 8}\n"},
     Target::deepspeed,
     kSound,
     when<hybrid, tell_hybrid>,
     hybrid},
    {{"RW0547", Severity::error, "DeepSpeed does not cut experts over tensor ranks",
      "AutoEP refuses an expert_tensor_parallel_size other than 1 as not supported yet.",
      "Set etp_size: 1.", "DeepSpeed auto_ep_folding.py, validate_folding_global",
      "world_size: 8\n"
      "model: {architecture: mixtral, hidden: 1024, layers: 8, heads: 16, kv_heads: 8, "
      "expert_ffn: 2048, vocab: 32768, experts: 8, active_experts: 2}\n"
      "parallelism: {tp_size: 2, dp_size: 4, ep_size: 2, etp_size: 2, sequence_parallel: false}\n"},
     Target::deepspeed,
     kSound,
     when<cut_experts, tell_cut_experts>,
     cut_experts},
    {{"RW0548", Severity::error,
      "DeepSpeed folds experts over tp without a pipeline or Ulysses only",
      "AutoEP with tensor parallelism refuses pp above 1 and sequence parallelism over ranks.",
      "Use tp_size: 1.", "DeepSpeed auto_ep_folding.py, validate_folding_global",
      "world_size: 16\n"
      "model: {architecture: mixtral, hidden: 1024, layers: 8, heads: 16, kv_heads: 8, "
      "expert_ffn: 2048, vocab: 32768, experts: 8, active_experts: 2}\n"
      "parallelism: {tp_size: 2, pp_size: 2, dp_size: 4, ep_size: 2, sequence_parallel: false}\n"},
     Target::deepspeed,
     kSound,
     when<experts_tensor, tell_experts_tensor>,
     experts_tensor},
    {{"RW0549", Severity::warning, "DeepSpeed AutoTP knows no pipeline",
      "Its mesh has a data and a tensor axis. Tensor parallelism under a PipelineModule needs "
      "layers and a topology of the user's own.",
      "Use one of the two, or Megatron-DeepSpeed.",
      "DeepSpeed utils/groups.py, _init_tp_mesh_device; issue 7147",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 2, pp_size: 2, dp_size: 2, sequence_parallel: false}\n"},
     Target::deepspeed,
     kSound,
     when<tensor_pipeline, tell_tensor_pipeline>,
     tensor_pipeline},
    {{"RW0550", Severity::note, "DeepSpeed takes the pipeline degree from code",
      "The JSON has no key for it: the training script builds a PipelineModule.",
      "Give num_stages in the script.", "DeepSpeed runtime/pipe/module.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 2, dp_size: 4}\n"},
     Target::deepspeed,
     kSound,
     when<pipeline, tell_pipeline>,
     pipeline},
    {{"RW0551", Severity::warning, "DeepSpeed does not take stages from a list",
      "partition_method balances parameters, or layers uniformly, or layers of a type. What the "
      "stages hold is its decision.",
      "Use the even split and partition_method uniform.", "DeepSpeed runtime/pipe/module.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 2, dp_size: 4, stages: [9, 7]}\n"},
     Target::deepspeed,
     kSound,
     when<uneven_stages, tell_stages>,
     uneven_stages},
    {{"RW0552", Severity::warning, "DeepSpeed has no selective recompute",
      "It checkpoints whole layers: activation_checkpoint_interval under a pipeline, else in the "
      "model's code.",
      "Use recompute: full, or do it in the model.", "DeepSpeed runtime/pipe/module.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {dp_size: 8, recompute: selective}\n"},
     Target::deepspeed,
     kSound,
     when<selective, tell_selective>,
     selective},
    {{"RW0553", Severity::warning, "DeepSpeed AutoTP has no sequence parallelism over tp",
      "It all-reduces whole activations; its sequence_parallel_size is Ulysses, here cp_size. Each "
      "tp rank holds the norms' activations in full.",
      "Set sequence_parallel: false.", "DeepSpeed utils/groups.py, _init_tp_mesh_device",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 2, dp_size: 4, sequence_parallel: true}\n"},
     Target::deepspeed,
     kSound,
     when<tensor_sequence, tell_tensor_sequence>,
     tensor_sequence},
    {{"RW0554", Severity::note, "DeepSpeed pipelines do not overlap the gradient reduction",
      "The pipeline engine turns the all-reduce during backward off and reduces at the end of the "
      "step.",
      "Count the reduction as exposed: overlap.grad_reduce: false.",
      "DeepSpeed runtime/pipe/engine.py, enable_backward_allreduce",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 2, dp_size: 4}\n"},
     Target::deepspeed,
     kSound,
     when<pipeline_overlap, tell_pipeline_overlap>,
     pipeline_overlap},
};

}  // namespace
}  // namespace deepspeed_impl

std::span<const Rule> deepspeed_rules() { return deepspeed_impl::kRules; }

}  // namespace rankwright::rules
