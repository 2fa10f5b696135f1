// RW0521..: plans that torchtitan or torch's pipeline schedules refuse or run differently.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/rules/change.h"
#include "rankwright/rules/target_findings.h"

namespace rankwright::rules {
namespace torchtitan_impl {
namespace {

bool is_pipelined(const plan::TrainingConfig& s) { return s.plan.pp > 1; }

bool is_zero_bubble(pipeline::Schedule schedule) {
  return schedule == pipeline::Schedule::interleaved_zb || schedule == pipeline::Schedule::zb_v ||
         schedule == pipeline::Schedule::dualpipe_v;
}

/// Returns whether torch's schedule class walks the chunks in rounds of about pp microbatches.
bool runs_in_rounds(const plan::TrainingConfig& s) {
  return is_pipelined(s) && (s.plan.schedule == pipeline::Schedule::interleaved ||
                             s.plan.schedule == pipeline::Schedule::interleaved_zb);
}

i64 count_rounds(const plan::TrainingConfig& s) {
  return std::max<i64>(1, s.microbatches() / s.plan.pp);
}

/// Returns dp_shard x cp: the ranks that FSDP shards over and that experts are spread over.
i64 count_shard_ranks(const plan::Plan& plan) { return plan.zero == 0 ? plan.cp : plan.shards(); }

bool has_undivided_kv_heads(const plan::TrainingConfig& s) {
  return find_undivided_kv_heads(s.model, s.plan.tp).has_value();
}

bool has_unsupported_order(const plan::TrainingConfig& s) {
  return !same_order(s, mesh::kDefaultOrder);
}

/// DualPipe places each stage on two ranks, which torch's pipeline stages do not support.
bool has_unsupported_schedule(const plan::TrainingConfig& s) {
  return is_pipelined(s) && s.plan.schedule == pipeline::Schedule::dualpipe;
}

/// Other schedules start with any number of microbatches, GPipe and schedule files too.
bool has_few_microbatches(const plan::TrainingConfig& s) {
  return is_pipelined(s) && s.plan.schedule == pipeline::Schedule::one_f_one_b &&
         s.microbatches() < s.plan.pp;
}

bool has_uneven_rounds(const plan::TrainingConfig& s) {
  return runs_in_rounds(s) && !divides(count_rounds(s), s.microbatches());
}

bool uses_zero_1(const plan::TrainingConfig& s) {
  return s.plan.zero == 1 && s.plan.data_ranks() > 1;
}

bool combines_plain_dp(const plan::TrainingConfig& s) {
  return s.plan.zero == 0 && s.plan.dp > 1 && s.plan.cp == 1 && s.plan.dp != s.plan.ranks();
}

bool has_undivided_sequence(const plan::TrainingConfig& s) {
  return s.plan.cp > 1 && !divides(2 * s.plan.tp * s.plan.cp, s.job.sequence);
}

bool has_unsupported_expert_degrees(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  if (!s.model.sparse()) return false;
  if (p.ep == 1) return p.etp != p.tp;
  const i64 sharded = count_shard_ranks(p);
  const bool whole = p.etp == 1 && divides(p.ep, sharded * p.tp);
  const bool cut = p.etp == p.tp && divides(p.cp, p.ep) && divides(p.ep, sharded);
  return !whole && !cut;
}

bool has_undivided_ulysses_kv(const plan::TrainingConfig& s) {
  return s.plan.cp > 1 && s.plan.cp_comm == plan::CpComm::a2a &&
         find_undivided_kv_heads(s.model, s.plan.tp * s.plan.cp).has_value();
}

bool pipelines_tied_embeddings(const plan::TrainingConfig& s) {
  return is_pipelined(s) && s.model.tied;
}

bool pipelines_mtp(const plan::TrainingConfig& s) {
  return is_pipelined(s) && s.model.mtp_layers > 0;
}

/// Models of v0.2.2 without a pipeline, whose attention (FlexAttention) it does not split, or whose
/// experts it wraps in FSDP even if no weights are sharded.
struct OldLimit {
  std::string_view architecture;
  bool pipeline;
  bool context;
  bool unsharded_experts;
};
constexpr OldLimit kOldLimits[] = {
    {"qwen3", true, false, false},      {"qwen3_moe", true, false, false},
    {"gpt_oss", true, true, true},      {"deepseek_v2", false, true, true},
    {"deepseek_v3", false, true, true}, {"llama4", false, true, true}};

const OldLimit* find_old_limit(const plan::TrainingConfig& s) {
  for (const OldLimit& one : kOldLimits)
    if (one.architecture == s.model.architecture) return &one;
  return nullptr;
}

bool pipelines_old_model(const plan::TrainingConfig& s) {
  const OldLimit* const limit = find_old_limit(s);
  return is_pipelined(s) && limit != nullptr && limit->pipeline;
}

bool splits_old_attention(const plan::TrainingConfig& s) {
  const OldLimit* const limit = find_old_limit(s);
  return s.plan.cp > 1 && limit != nullptr && limit->context;
}

bool lacks_shards_beside_experts(const plan::TrainingConfig& s) {
  const OldLimit* const limit = find_old_limit(s);
  return s.plan.ep > 1 && count_shard_ranks(s.plan) == 1 && limit != nullptr &&
         limit->unsharded_experts;
}

bool recomputes_beside_overlap(const plan::TrainingConfig& s) {
  return is_pipelined(s) && s.plan.schedule == pipeline::Schedule::dualpipe_v && s.plan.ep > 1 &&
         s.plan.overlap.ep && s.plan.recompute != plan::Recompute::none;
}

/// The checks that reject a plan; a fix triggers none of them.
constexpr Fault kFaults[] = {
    has_undivided_kv_heads,   has_unsupported_order,     has_unsupported_schedule,
    has_few_microbatches,     has_uneven_rounds,         uses_zero_1,
    combines_plain_dp,        has_undivided_sequence,    has_unsupported_expert_degrees,
    has_undivided_ulysses_kv, pipelines_tied_embeddings, pipelines_mtp};

bool has_idle_stages(const plan::TrainingConfig& s) {
  return is_pipelined(s) && s.plan.schedule != pipeline::Schedule::one_f_one_b &&
         s.microbatches() < s.plan.pp * s.plan.virtual_stages;
}

bool has_other_group_size(const plan::TrainingConfig& s) {
  return runs_in_rounds(s) && s.plan.microbatch_group != 0 && !has_uneven_rounds(s) &&
         s.plan.microbatch_group != s.microbatches() / count_rounds(s);
}

bool needs_cells_file(const plan::TrainingConfig& s) {
  return is_pipelined(s) && (s.plan.schedule == pipeline::Schedule::zb_h1 ||
                             s.plan.schedule == pipeline::Schedule::zb_2p);
}

bool is_sharded_by_cp(const plan::TrainingConfig& s) { return s.plan.zero == 0 && s.plan.cp > 1; }

bool lacks_sequence_parallelism(const plan::TrainingConfig& s) {
  return s.plan.tp > 1 && !s.plan.sequence_parallel;
}

bool recomputes_zero_bubble(const plan::TrainingConfig& s) {
  return is_pipelined(s) && is_zero_bubble(s.plan.schedule) &&
         s.plan.recompute == plan::Recompute::full;
}

Finding describe_kv_heads(const plan::TrainingConfig& s) {
  return describe_undivided_kv_heads(s, has_undivided_kv_heads, kFaults);
}

Finding describe_order(const plan::TrainingConfig& s) {
  return describe_fixed_order(s, has_unsupported_order, kFaults);
}

Finding describe_schedule(const plan::TrainingConfig& s) {
  const i64 enough = std::max(s.microbatches(), s.plan.pp);
  return {
      .detail = fmt::format("PyTorch has no schedule class for {}", name(s.plan.schedule)),
      .key = "parallelism.schedule",
      .fix = first_fix(s, has_unsupported_schedule, kFaults,
                       {Change(s).chunks(1, pipeline::Schedule::one_f_one_b),
                        Change(s).chunks(1, pipeline::Schedule::one_f_one_b).microbatches(enough)}),
      .hint = "schedule: 1f1b, interleaved-1f1b, interleaved-zb, zb-v or dualpipe-v"};
}

Finding describe_by_cells(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("PyTorch has no schedule class for {}", name(s.plan.schedule)),
          .key = "parallelism.schedule",
          .hint = "rankwright export PLAN --to torchtitan-0.2 -o FOLDER writes the schedule file"};
}

/// Proposes `wanted` microbatches, or the next multiple of pp.
std::vector<Edit> propose_microbatches(const plan::TrainingConfig& s, Fault fault, i64 wanted) {
  return first_fix(
      s, fault, kFaults,
      {Change(s).microbatches(wanted), Change(s).microbatches(round_up(wanted, s.plan.pp))});
}

Finding describe_few_microbatches(const plan::TrainingConfig& s) {
  return {
      .detail = fmt::format("{} for {} stages",
                            plural(s.microbatches(), "micro-batch", "micro-batches"), s.plan.pp),
      .key = "job.global_batch",
      .fix = propose_microbatches(s, has_few_microbatches, s.plan.pp),
      .hint = "raise global_batch, or lower pp_size"};
}

Finding describe_idle_stages(const plan::TrainingConfig& s) {
  const i64 stages = s.plan.pp * s.plan.virtual_stages;
  return {.detail = fmt::format("{} for {} stages",
                                plural(s.microbatches(), "micro-batch", "micro-batches"), stages),
          .key = "job.global_batch",
          .fix = propose_microbatches(s, has_idle_stages, stages)};
}

Finding describe_uneven_rounds(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("{} micro-batches do not divide into {} equal rounds",
                                count(s.microbatches()), count(count_rounds(s))),
          .key = "job.global_batch",
          .fix = propose_microbatches(s, has_uneven_rounds, round_up(s.microbatches(), s.plan.pp)),
          .hint = "a global_batch that gives a multiple of PP micro-batches"};
}

Finding describe_fixed_group(const plan::TrainingConfig& s) {
  const i64 each = s.microbatches() / count_rounds(s);
  return {.detail = fmt::format("microbatch_group {}, but PyTorch uses {} per round",
                                count(s.plan.microbatch_group), count(each)),
          .key = "parallelism.microbatch_group",
          .fix = first_fix(s, has_other_group_size, kFaults, {Change(s).microbatch_group(each)})};
}

Finding describe_zero_one(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("zero_stage 1 over {} data-parallel ranks", s.plan.data_ranks()),
          .key = "parallelism.zero_stage",
          .fix = first_fix(s, uses_zero_1, kFaults, {Change(s).zero(2), Change(s).zero(3)}),
          .hint = "zero_stage: 2 or 3"};
}

Finding describe_plain_dp(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("zero_stage 0 and DP {} with TP {} and PP {}", s.plan.dp, s.plan.tp,
                                s.plan.pp),
          .key = "parallelism.zero_stage",
          .fix = first_fix(s, combines_plain_dp, kFaults, {Change(s).zero(2), Change(s).zero(3)}),
          .hint = "zero_stage: 2 or 3"};
}

Finding describe_sharded_by_cp(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("zero_stage 0 with CP {}", s.plan.cp),
          .key = "parallelism.zero_stage",
          .fix = first_fix(s, is_sharded_by_cp, kFaults, {Change(s).zero(2), Change(s).zero(3)})};
}

Finding describe_sequence(const plan::TrainingConfig& s) {
  const i64 unit = 2 * s.plan.tp * s.plan.cp;
  return {.detail = fmt::format("2 x TP {} x CP {} = {} does not divide the sequence of {} tokens",
                                s.plan.tp, s.plan.cp, count(unit), count(s.job.sequence)),
          .key = "job.sequence",
          .fix = first_fix(s, has_undivided_sequence, kFaults,
                           {Change(s).sequence(round_up(s.job.sequence, unit))}),
          .hint = "a sequence that 2 x TP x CP divides"};
}

Finding describe_expert_degrees(const plan::TrainingConfig& s) {
  return {
      .detail = fmt::format("EP {} with ETP {} does not match TP {}, CP {} and {} sharding ranks",
                            s.plan.ep, s.plan.etp, s.plan.tp, s.plan.cp, count_shard_ranks(s.plan)),
      .key = "parallelism.ep_size",
      .fix = fix_by_experts(s, has_unsupported_expert_degrees, kFaults),
      .hint = "etp_size: 1 and an ep_size that divides the sharding ranks x TP"};
}

Finding describe_ulysses_kv(const plan::TrainingConfig& s) {
  return describe_undivided_ulysses_kv(s, plan::CpComm::all_gather, has_undivided_ulysses_kv,
                                       kFaults);
}

Finding describe_without_sp(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("sequence_parallel: false with TP {}", s.plan.tp),
          .key = "parallelism.sequence_parallel",
          .fix = first_fix(s, lacks_sequence_parallelism, kFaults,
                           {Change(s).sequence_parallel(true)})};
}

std::vector<Edit> propose_no_pipeline(const plan::TrainingConfig& s, Fault fault) {
  return fix_by_degrees(s, fault, kFaults,
                        [](const plan::TrainingConfig& after) { return after.plan.pp == 1; });
}

Finding describe_tied(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("{} has tied embeddings, and PP is {}", s.model.name, s.plan.pp),
          .key = "parallelism.pp_size",
          .fix = propose_no_pipeline(s, pipelines_tied_embeddings),
          .hint = "pp_size: 1"};
}

Finding describe_mtp(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("{} has {}, and PP is {}", s.model.name,
                                plural(s.model.mtp_layers, "MTP module", "MTP modules"), s.plan.pp),
          .key = "parallelism.pp_size",
          .fix = propose_no_pipeline(s, pipelines_mtp),
          .hint = "pp_size: 1"};
}

Finding describe_old_pipeline(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("{} is a {} model, and PP is {}", s.model.name,
                                s.model.architecture, s.plan.pp),
          .key = "parallelism.pp_size",
          .fix = propose_no_pipeline(s, pipelines_old_model),
          .hint = "pp_size: 1, or --for torchtitan"};
}

Finding describe_no_shards(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("EP is {} over TP ranks, and no weights are sharded over DP or CP",
                                s.plan.ep),
          .key = "parallelism.ep_size",
          .hint = "dp_size: 2, or ep_size: 1, or --for torchtitan"};
}

Finding describe_recomputed_overlap(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("overlap.ep with {} recomputation", name(s.plan.recompute)),
          .key = "parallelism.overlap.ep",
          .fix = Change(s).overlap_ep(false).edits(),
          .hint = "overlap.ep: false"};
}

Finding describe_old_attention(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("{} is a {} model, and CP is {}", s.model.name,
                                s.model.architecture, s.plan.cp),
          .key = "parallelism.cp_size",
          .hint = "cp_size: 1"};
}

Finding describe_recompute(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("{} splits the backward pass in two, and with full recomputation "
                                "each half repeats the forward pass",
                                name(s.plan.schedule)),
          .key = "parallelism.recompute",
          .hint = "recompute: selective, or schedule: interleaved-1f1b"};
}

constexpr Rule::When kWithoutViolations = Rule::When::without_violations;

constexpr Rule kRules[] = {
    {{"RW0521", Severity::error, "torchtitan needs whole key-value heads on every TP rank",
      "It splits the key and value projections over TP and does not replicate heads, so TP must "
      "divide the key-value heads.",
      "Set tp_size to a divisor of the number of key-value heads, or use Megatron-LM, which "
      "replicates heads.",
      "torchtitan main config/validation.py, for a fused qkv projection; no such check is known in "
      "v0.2.2",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 16, dp_size: 1}\n"},
     Target::torchtitan,
     kWithoutViolations,
     when<has_undivided_kv_heads, describe_kv_heads>,
     has_undivided_kv_heads},
    {{"RW0522", Severity::error, "torchtitan supports only one rank order",
      "Its device mesh is pp, dp_replicate, dp_shard, cp, tp with tp innermost. No setting changes "
      "it.",
      "Remove `order` to use the default. To move ranks to other devices, change `placement`.",
      "torchtitan distributed/parallel_dims.py",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, order: tp-pp-dp, zero_stage: 2}\n"},
     Target::torchtitan,
     kWithoutViolations,
     when<has_unsupported_order, describe_order>,
     has_unsupported_order,
     false,
     Rule::Depends::order},
    {{"RW0523", Severity::error, "PyTorch cannot run this schedule",
      "DualPipe keeps every stage on two ranks. PyTorch supports one rank per stage, in a loop or "
      "a V, with its schedule classes and with CSV files.",
      "Set schedule: dualpipe-v, the V-shaped variant.",
      "torch/distributed/pipelining/schedules.py, get_schedule_class; torchtitan "
      "distributed/pipeline_parallel.py",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, schedule: dualpipe, zero_stage: 2}\n"},
     Target::torchtitan,
     kWithoutViolations,
     when<has_unsupported_schedule, describe_schedule>,
     has_unsupported_schedule,
     false,
     Rule::Depends::schedule},
    {{"RW0524", Severity::error, "fewer micro-batches than stages",
      "PyTorch raises an error for 1F1B; GPipe runs. Older versions ran 1F1B, and one such run was "
      "reported to hang.",
      "Raise global_batch, lower micro_batch, or use fewer stages.",
      "torch/distributed/pipelining/schedules.py, Schedule1F1B; torchtitan issue 775",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, zero_stage: 2}\n"
      "job: {global_batch: 4}\n"},
     Target::torchtitan,
     kWithoutViolations,
     when<has_few_microbatches, describe_few_microbatches>,
     has_few_microbatches},
    {{"RW0526", Severity::warning, "fewer micro-batches than pipeline stages",
      "torchtitan warns and runs, with some stages always idle.",
      "Raise global_batch, or lower micro_batch.",
      "torchtitan distributed/pipeline_parallel.py, build_pipeline_schedule",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, virtual_stages: 2, zero_stage: 2}\n"
      "job: {global_batch: 8}\n"},
     Target::torchtitan,
     kWithoutViolations,
     when<has_idle_stages, describe_idle_stages>,
     has_idle_stages,
     true},
    {{"RW0527", Severity::error, "the micro-batches do not divide into equal rounds",
      "PyTorch's interleaved schedules run max(1, micro-batches div PP) rounds of equal size. With "
      "PP 4, 10 micro-batches work; 9 and 11 do not.",
      "Set global_batch so that the number of micro-batches is a multiple of PP.",
      "torch/distributed/pipelining/schedules.py, ScheduleInterleaved1F1B",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, virtual_stages: 2, zero_stage: 2}\n"
      "job: {global_batch: 18}\n"},
     Target::torchtitan,
     kWithoutViolations,
     when<has_uneven_rounds, describe_uneven_rounds>,
     has_uneven_rounds},
    {{"RW0528", Severity::note, "PyTorch chooses the micro-batch group itself",
      "It runs micro-batches div rounds of them through a virtual stage before the next, and has "
      "no setting for microbatch_group. Another group needs a schedule file (CSV).",
      "Set microbatch_group to PyTorch's, or let export write the schedule file.",
      "torch/distributed/pipelining/schedules.py, ScheduleInterleaved1F1B",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, virtual_stages: 2, microbatch_group: 8, "
      "zero_stage: 2}\n"
      "job: {global_batch: 32}\n"},
     Target::torchtitan,
     kWithoutViolations,
     when<has_other_group_size, describe_fixed_group>,
     has_other_group_size},
    {{"RW0529", Severity::error, "torchtitan has no ZeRO-1",
      "FSDP2 shards parameters, gradients and optimizer states together. It acts like ZeRO-2 if "
      "parameters stay gathered after the forward pass (the default in a pipeline), and like "
      "ZeRO-3 if they are resharded.",
      "Set zero_stage: 2 (fsdp_reshard_after_forward = never) or zero_stage: 3 (always).",
      "torchtitan distributed/fsdp.py",
      "world_size: 8\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, dp_size: 4, zero_stage: 1}\n"},
     Target::torchtitan,
     kWithoutViolations,
     when<uses_zero_1, describe_zero_one>,
     uses_zero_1,
     false,
     Rule::Depends::zero},
    {{"RW0530", Severity::error, "torchtitan does not combine DDP with TP or PP",
      "Unsharded data parallelism is DDP in torchtitan, which rejects it together with TP or PP.",
      "Set zero_stage: 2 or zero_stage: 3.", "torchtitan models/llama3/infra/parallelize.py",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, zero_stage: 0}\n"},
     Target::torchtitan,
     kWithoutViolations,
     when<combines_plain_dp, describe_plain_dp>,
     combines_plain_dp},
    {{"RW0531", Severity::warning, "context parallelism turns on sharding",
      "torchtitan shards over dp_shard x CP and enables FSDP if that is above 1. Parameters are "
      "then not replicated as the plan assumes.",
      "Set zero_stage: 2 or zero_stage: 3, which is what runs.",
      "torchtitan distributed/parallel_dims.py, fsdp_enabled",
      "world_size: 8\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 4, cp_size: 2, dp_size: 1, zero_stage: 0}\n"},
     Target::torchtitan,
     kWithoutViolations,
     when<is_sharded_by_cp, describe_sharded_by_cp>,
     is_sharded_by_cp,
     false,
     Rule::Depends::zero},
    {{"RW0532", Severity::error, "torchtitan requires 2 x TP x CP to divide the sequence",
      "With context parallelism, every rank has an early and a late part of the sequence. v0.2.2 "
      "requires it without, too.",
      "Set job.sequence to a multiple of 2 x TP x CP.", "torchtitan trainer.py, seq_len_divisor",
      "world_size: 8\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 4, cp_size: 2, dp_size: 1}\n"
      "job: {sequence: 4104}\n"},
     Target::torchtitan,
     kWithoutViolations,
     when<has_undivided_sequence, describe_sequence>,
     has_undivided_sequence},
    {{"RW0533", Severity::error, "torchtitan does not support these expert degrees",
      "Without EP, it splits experts over TP: ETP = TP. With EP above 1, ETP is 1 and EP divides "
      "dp_shard x CP x TP. v0.2.2 also has ETP = TP with an EP that is a multiple of CP and "
      "divides dp_shard x CP, and needs a multiple of CP x TP otherwise.",
      "Set etp_size: 1 and an ep_size that divides dp_shard x CP x TP.",
      "torchtitan distributed/parallel_dims.py",
      "world_size: 8\n"
      "model: {architecture: mixtral, hidden: 1024, layers: 8, heads: 16, kv_heads: 8, "
      "expert_ffn: 2048, vocab: 32768, experts: 24, active_experts: 2}\n"
      "parallelism: {dp_size: 8, ep_size: 8, etp_size: 1, zero_stage: 3, shard_size: 4}\n"},
     Target::torchtitan,
     kWithoutViolations,
     when<has_unsupported_expert_degrees, describe_expert_degrees>,
     has_unsupported_expert_degrees},
    {{"RW0535", Severity::error, "Ulysses in torchtitan does not divide the key-value heads",
      "The main branch requires TP x CP to divide the attention heads and the key-value heads.",
      "Set cp_comm: all_gather.", "torchtitan main config/validation.py",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 4, cp_size: 4, dp_size: 1, cp_comm: a2a, zero_stage: 2}\n"},
     Target::torchtitan,
     kWithoutViolations,
     when<has_undivided_ulysses_kv, describe_ulysses_kv>,
     has_undivided_ulysses_kv},
    {{"RW0536", Severity::warning, "torchtitan v0.2.2 always uses sequence parallelism with TP",
      "Its TP plans hard-code it. The main branch has enable_sequence_parallel.",
      "Set sequence_parallel: true.", "torchtitan models/llama3/infra/parallelize.py",
      "world_size: 8\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 4, dp_size: 2, zero_stage: 2, sequence_parallel: false}\n"},
     Target::torchtitan,
     kWithoutViolations,
     when<lacks_sequence_parallelism, describe_without_sp>,
     lacks_sequence_parallelism,
     false,
     Rule::Depends::sequence_parallel},
    {{"RW0537", Severity::error, "torchtitan pipelines do not support tied embeddings",
      "The first and last stage would share a weight. The main branch rejects it; no such check is "
      "known in v0.2.2.",
      "Set pp_size: 1, and raise tp_size or set zero_stage: 3.",
      "torchtitan main config/validation.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 2, pp_size: 2, dp_size: 2, zero_stage: 2}\n"},
     Target::torchtitan,
     kWithoutViolations,
     when<pipelines_tied_embeddings, describe_tied>,
     pipelines_tied_embeddings},
    {{"RW0538", Severity::error, "torchtitan pipelines do not support multi-token prediction",
      "The main branch rejects MTP modules with PP.",
      "Set pp_size: 1, and use TP, EP and zero_stage: 3 instead.",
      "torchtitan main config/validation.py",
      "world_size: 8\n"
      "model: {architecture: llama, hidden: 1024, layers: 8, heads: 16, kv_heads: 8, ffn: 2048, "
      "vocab: 32768, mtp_layers: 1}\n"
      "parallelism: {tp_size: 2, pp_size: 2, dp_size: 2, zero_stage: 2}\n"},
     Target::torchtitan,
     kWithoutViolations,
     when<pipelines_mtp, describe_mtp>,
     pipelines_mtp},
    {{"RW0539", Severity::warning, "full recomputation cancels the gain of a zero-bubble schedule",
      "Zero-bubble schedules split the backward pass in two. With full recomputation, each half "
      "repeats the forward pass, or its activations stay in memory. Users report slow steps or "
      "out-of-memory errors.",
      "Set recompute: selective, or schedule: interleaved-1f1b.",
      "torchtitan issue 773 (open); pytorch issue 136766 (closed)",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, virtual_stages: 2, schedule: zb-v, "
      "zero_stage: 2, recompute: full}\n"},
     Target::torchtitan,
     kWithoutViolations,
     when<recomputes_zero_bubble, describe_recompute>,
     recomputes_zero_bubble,
     true},
    {{"RW0540", Severity::note, "PyTorch runs this schedule from a schedule file",
      "torch.distributed.pipelining has classes for GPipe, 1F1B, Interleaved1F1B, LoopedBFS, "
      "InterleavedZeroBubble, ZBVZeroBubble and DualPipeV. Other schedules need a CSV file of "
      "actions: pipeline_parallel_schedule_csv names it.",
      "Let export write the file, or set schedule: zb-v or interleaved-zb.",
      "torchtitan distributed/pipeline_parallel.py, build_pipeline_schedule",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, schedule: zb-h1, zero_stage: 2}\n"},
     Target::torchtitan,
     kWithoutViolations,
     when<needs_cells_file, describe_by_cells>,
     needs_cells_file},
    {{"RW0557", Severity::error, "torchtitan v0.2.2 cannot recompute beside overlapped dispatches",
      "Its DualPipeV with overlapped dispatches stops with NotImplementedError if activations are "
      "recomputed.",
      "Set overlap.ep: false, or recompute: none.",
      "torchtitan v0.2.2 distributed/dual_pipe_v.py: get_dual_pipe_v_flag",
      "world_size: 8\n"
      "model: deepseek-v2-lite\n"
      "parallelism: {pp_size: 2, dp_size: 4, ep_size: 4, zero_stage: 2, schedule: dualpipe-v, "
      "virtual_stages: 2, overlap: {ep: true}, recompute: full}\n"},
     Target::torchtitan_0_2,
     kWithoutViolations,
     when<recomputes_beside_overlap, describe_recomputed_overlap>,
     recomputes_beside_overlap},
    {{"RW0559", Severity::error, "torchtitan v0.2.2 has no pipeline for this model",
      "Its Qwen3 and gpt-oss models have no pipelining function. Later versions have one.",
      "Set pp_size: 1, or use torchtitan 0.3.", "torchtitan v0.2.2 models/qwen3/__init__.py",
      "world_size: 8\n"
      "model: qwen3-8b\n"
      "parallelism: {tp_size: 2, pp_size: 2, dp_size: 2, zero_stage: 2}\n"},
     Target::torchtitan_0_2,
     kWithoutViolations,
     when<pipelines_old_model, describe_old_pipeline>,
     pipelines_old_model},
    {{"RW0560", Severity::error, "torchtitan v0.2.2 has no context parallelism for this model",
      "Its DeepSeek, Llama 4 and gpt-oss models use FlexAttention, which it does not split.",
      "Set cp_size: 1, and split the sequence by TP instead.",
      "torchtitan v0.2.2 models/deepseek_v3/model/args.py",
      "world_size: 8\n"
      "model: deepseek-v2-lite\n"
      "parallelism: {tp_size: 2, cp_size: 2, dp_size: 2, zero_stage: 2}\n"},
     Target::torchtitan_0_2,
     kWithoutViolations,
     when<splits_old_attention, describe_old_attention>,
     splits_old_attention},
    {{"RW0558", Severity::error, "torchtitan v0.2.2 needs sharded weights beside EP",
      "For DeepSeek, Llama 4 and gpt-oss it wraps experts in FSDP and asks for the mesh of the "
      "other weights, which does not exist if DP x CP is 1.",
      "Set dp_size above 1, or ep_size: 1, or use torchtitan 0.3.",
      "torchtitan v0.2.2 models/deepseek_v3/infra/parallelize.py",
      "world_size: 4\n"
      "model: deepseek-v2-lite\n"
      "parallelism: {tp_size: 4, ep_size: 2, etp_size: 1, zero_stage: 3}\n"},
     Target::torchtitan_0_2,
     kWithoutViolations,
     when<lacks_shards_beside_experts, describe_no_shards>,
     lacks_shards_beside_experts},
};

}  // namespace
}  // namespace torchtitan_impl

std::span<const Rule> torchtitan_rules() { return torchtitan_impl::kRules; }

}  // namespace rankwright::rules
