// RW0561..: plans that nanotron refuses, cannot express, or silently runs differently.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/rules/change.h"
#include "rankwright/rules/target_findings.h"

namespace rankwright::rules {
namespace nanotron_impl {
namespace {

bool has_undivided_kv_heads(const plan::TrainingConfig& s) {
  return find_undivided_kv_heads(s.model, s.plan.tp).has_value();
}

bool uses_zero_2_or_3(const plan::TrainingConfig& s) { return s.plan.zero >= 2; }

bool has_unsupported_schedule(const plan::TrainingConfig& s) {
  const bool known = s.plan.schedule == pipeline::Schedule::gpipe ||
                     s.plan.schedule == pipeline::Schedule::one_f_one_b;
  return s.plan.virtual_stages > 1 || (s.plan.pp > 1 && !known);
}

bool has_unsupported_order(const plan::TrainingConfig& s) {
  return !same_order(s, mesh::kDefaultOrder);
}

bool has_few_microbatches(const plan::TrainingConfig& s) {
  return s.plan.pp > 1 && s.plan.schedule == pipeline::Schedule::one_f_one_b &&
         s.microbatches() < s.plan.pp - 1;
}

bool is_hybrid_sharded(const plan::TrainingConfig& s) {
  return s.plan.zero >= 1 && s.plan.shards() != s.plan.data_ranks();
}

/// Returns whether some rank is not in the slot of its host that its number implies. Whole hosts
/// may be permuted.
bool has_unsupported_placement(const plan::TrainingConfig& s) {
  const mesh::Placement& placement = s.plan.placement;
  const i64 host = std::max<i64>(1, s.cluster.host_devices);
  if (placement.kind == mesh::Placement::Kind::block) return false;
  for (i64 rank = 0; rank < s.world; ++rank)
    if (placement.device(rank) % host != rank % host) return true;
  return false;
}

bool lacks_ring(const plan::TrainingConfig& s) {
  return s.plan.cp > 1 && s.plan.cp_comm != plan::CpComm::p2p;
}

/// The checks that reject a plan or that nanotron gets wrong; a fix triggers none of them.
constexpr Fault kFaults[] = {
    has_undivided_kv_heads, uses_zero_2_or_3,  has_unsupported_schedule,  has_unsupported_order,
    has_few_microbatches,   is_hybrid_sharded, has_unsupported_placement, lacks_ring};

bool is_sharded_over_cp(const plan::TrainingConfig& s) { return s.plan.zero >= 1 && s.plan.cp > 1; }

bool recomputes_selectively(const plan::TrainingConfig& s) {
  return s.plan.recompute == plan::Recompute::selective;
}

bool recomputes_some_layers(const plan::TrainingConfig& s) {
  return s.plan.recompute == plan::Recompute::full && s.plan.recompute_layers > 0;
}

bool uses_expert_parallelism(const plan::TrainingConfig& s) { return s.plan.ep > 1; }

Finding describe_kv_heads(const plan::TrainingConfig& s) {
  return describe_undivided_kv_heads(s, has_undivided_kv_heads, kFaults);
}

Finding describe_zero(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("zero_stage {} runs as zero_stage 1", s.plan.zero),
          .key = "parallelism.zero_stage",
          .fix = first_fix(s, uses_zero_2_or_3, kFaults, {Change(s).zero(1)}),
          .hint = "zero_stage: 1"};
}

Finding describe_schedule(const plan::TrainingConfig& s) {
  const i64 enough = std::max(s.microbatches(), s.plan.pp);
  const auto plain = [&] { return Change(s).chunks(1, pipeline::Schedule::one_f_one_b); };
  return {.detail = fmt::format("{} with {} per PP rank", name(s.plan.schedule),
                                plural(s.plan.virtual_stages, "virtual stage", "virtual stages")),
          .key = "parallelism.schedule",
          .fix = first_fix(s, has_unsupported_schedule, kFaults,
                           {plain(), plain().even_stages(), plain().microbatches(enough)}),
          .hint = "schedule: 1f1b, virtual_stages: 1"};
}

Finding describe_order(const plan::TrainingConfig& s) {
  return describe_fixed_order(s, has_unsupported_order, kFaults);
}

Finding describe_few_microbatches(const plan::TrainingConfig& s) {
  return {.detail = fmt::format(
              "{} for PP {}", plural(s.microbatches(), "micro-batch", "micro-batches"), s.plan.pp),
          .key = "job.global_batch",
          .fix = first_fix(s, has_few_microbatches, kFaults, {Change(s).microbatches(s.plan.pp)}),
          .hint = "raise global_batch"};
}

Finding describe_hybrid(const plan::TrainingConfig& s) {
  return describe_full_sharding_only(s, is_hybrid_sharded, kFaults);
}

Finding describe_placement(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("hosts have {} devices, but some rank r is not in slot r mod {}",
                                s.cluster.host_devices, s.cluster.host_devices),
          .key = "placement",
          .fix = first_fix(s, has_unsupported_placement, kFaults, {Change(s).block_placement()}),
          .hint = "placement: block"};
}

Finding describe_ring(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("CP {} with cp_comm {}", s.plan.cp, name(s.plan.cp_comm)),
          .key = "parallelism.cp_comm",
          .fix = first_fix(s, lacks_ring, kFaults, {Change(s).cp_comm(plan::CpComm::p2p)}),
          .hint = "cp_comm: p2p"};
}

Finding describe_sharded_over_cp(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("optimizer states are sharded over DP {}, not over DP x CP = {}",
                                s.plan.dp, s.plan.data_ranks()),
          .key = "parallelism.zero_stage"};
}

Finding describe_stages(const plan::TrainingConfig& s) {
  return describe_fixed_stages(s, uneven_stages, kFaults);
}

Finding describe_selective(const plan::TrainingConfig& s) {
  return describe_whole_layer_recompute(s, recomputes_selectively, kFaults);
}

Finding describe_some_layers(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("recompute covers {} per stage; nanotron recomputes all or none",
                                plural(s.plan.recompute_layers, "layer", "layers")),
          .key = "parallelism.recompute",
          .fix = first_fix(s, recomputes_some_layers, kFaults,
                           {Change(s).recompute(plan::Recompute::full)})};
}

Finding describe_experts(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("EP is {}", s.plan.ep),
          .key = "parallelism.ep_size",
          .hint = "ep_size: 1, or build nanotron with pull request 373"};
}

constexpr Rule::When kWithoutViolations = Rule::When::without_violations;

constexpr Rule kRules[] = {
    {{"RW0561", Severity::error, "nanotron needs whole key-value heads on every TP rank",
      "Its config rejects fewer heads than TP, but does not check the division: 6 heads on TP 4 "
      "pass, round down to one each, and fail later.",
      "Set tp_size to a divisor of the number of key-value heads.",
      "nanotron config/config.py; models/qwen.py",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 16, dp_size: 1}\n"},
     Target::nanotron,
     kWithoutViolations,
     when<has_undivided_kv_heads, describe_kv_heads>,
     has_undivided_kv_heads},
    {{"RW0562", Severity::error, "nanotron runs ZeRO-2 and ZeRO-3 as ZeRO-1",
      "nanotron only checks whether zero_stage is above 0. Gradients and parameters stay unsharded "
      "on every rank, without a warning, and need more memory than the plan estimates.",
      "Set zero_stage: 1.", "nanotron helpers.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 1, dp_size: 8, zero_stage: 3}\n"},
     Target::nanotron,
     kWithoutViolations,
     when<uses_zero_2_or_3, describe_zero>,
     uses_zero_2_or_3,
     false,
     Rule::Depends::zero},
    {{"RW0563", Severity::error,
      "nanotron pipelines support only all-forward-all-backward and 1F1B",
      "pp_engine is afab (GPipe, the default) or 1f1b, with one stage per rank.",
      "Set schedule: 1f1b and virtual_stages: 1.", "nanotron config/utils_config.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 2, dp_size: 4, virtual_stages: 2}\n"},
     Target::nanotron,
     kWithoutViolations,
     when<has_unsupported_schedule, describe_schedule>,
     has_unsupported_schedule,
     false,
     Rule::Depends::schedule},
    {{"RW0564", Severity::error, "nanotron supports only one rank order",
      "Its grid is ep, pp, dp, cp, tp with tp innermost.",
      "Remove `order` to use the default. To move ranks to other devices, change the order of the "
      "cluster's hosts.",
      "nanotron parallel/context.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 2, dp_size: 4, order: tp-pp-dp}\n"},
     Target::nanotron,
     kWithoutViolations,
     when<has_unsupported_order, describe_order>,
     has_unsupported_order,
     false,
     Rule::Depends::order},
    {{"RW0565", Severity::error, "nanotron's 1F1B needs at least PP - 1 micro-batches",
      "The engine asserts it. The number of micro-batches is batch_accumulation_per_replica.",
      "Raise global_batch, or lower micro_batch.", "nanotron pipeline_parallel/engine.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 4, dp_size: 2}\n"
      "job: {global_batch: 4}\n"},
     Target::nanotron,
     kWithoutViolations,
     when<has_few_microbatches, describe_few_microbatches>,
     has_few_microbatches},
    {{"RW0566", Severity::error, "nanotron has no hybrid sharding",
      "Its optimizer shards over all DP ranks.", "Remove shard_size.", "nanotron helpers.py",
      "world_size: 16\n"
      "model: llama-3.2-1b\n"
      "parallelism: {dp_size: 16, zero_stage: 1, shard_size: 8}\n"},
     Target::nanotron,
     kWithoutViolations,
     when<is_hybrid_sharded, describe_hybrid>,
     is_hybrid_sharded},
    {{"RW0567", Severity::error, "nanotron needs consecutive ranks on each host",
      "It derives the local rank from the rank, and stops with a local rank mismatch if the "
      "launcher assigned another.",
      "Set placement: block, or reorder whole hosts.", "nanotron parallel/context.py",
      "world_size: 16\n"
      "model: llama-3.2-1b\n"
      "parallelism: {dp_size: 16}\n"
      "placement: cyclic\n"},
     Target::nanotron,
     kWithoutViolations,
     when<has_unsupported_placement, describe_placement>,
     has_unsupported_placement},
    {{"RW0568", Severity::error, "nanotron supports only ring context parallelism",
      "context_parallel_size works with the ring attention of its Llama and Qwen models. Other "
      "models ignore it.",
      "Set cp_comm: p2p.", "nanotron config/parallelism_config.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {cp_size: 2, dp_size: 4, cp_comm: a2a}\n"},
     Target::nanotron,
     kWithoutViolations,
     when<lacks_ring, describe_ring>,
     lacks_ring},
    {{"RW0569", Severity::warning, "nanotron shards the optimizer over DP only",
      "The estimate, like Megatron-LM, shards optimizer states over DP x CP. nanotron shards over "
      "DP, so each rank holds CP times as much.",
      "Multiply the optimizer states of the memory estimate by CP.", "nanotron helpers.py, dp_pg",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {cp_size: 2, dp_size: 4, zero_stage: 1}\n"},
     Target::nanotron,
     kWithoutViolations,
     when<is_sharded_over_cp, describe_sharded_over_cp>,
     is_sharded_over_cp,
     true,
     Rule::Depends::zero},
    {{"RW0570", Severity::warning, "nanotron does not support a list of stages",
      "It assigns layers to stages by cumulative compute cost, including the output head.",
      "Remove `stages`. The last stage will be smaller.", "nanotron models/base.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 2, dp_size: 4, stages: [9, 7]}\n"},
     Target::nanotron,
     kWithoutViolations,
     when<uneven_stages, describe_stages>,
     uneven_stages},
    {{"RW0571", Severity::warning, "nanotron has no selective recomputation",
      "recompute_layer applies to whole layers.", "Set recompute: full.",
      "nanotron config/parallelism_config.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {dp_size: 8, recompute: selective}\n"},
     Target::nanotron,
     kWithoutViolations,
     when<recomputes_selectively, describe_selective>,
     recomputes_selectively},
    {{"RW0572", Severity::warning, "nanotron recomputes all layers or none",
      "recompute_layer applies to the whole model.", "Set recompute: full.",
      "nanotron config/parallelism_config.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {dp_size: 8, recompute: {full: 4}}\n"},
     Target::nanotron,
     kWithoutViolations,
     when<recomputes_some_layers, describe_some_layers>,
     recomputes_some_layers},
    {{"RW0573", Severity::warning, "nanotron's expert parallelism has another grid",
      "In releases 0.2 to 0.5, EP multiplies the ranks: TP x PP x EP x DP, and EP ranks share a "
      "batch. In pull request 373 it takes part of DP, and dp is outermost.",
      "Set ep_size: 1, or check the branch that you run.",
      "nanotron pull request 373; parallel/context.py",
      "world_size: 8\n"
      "model: {architecture: mixtral, hidden: 1024, layers: 8, heads: 16, kv_heads: 8, "
      "expert_ffn: 2048, vocab: 32768, experts: 8, active_experts: 2}\n"
      "parallelism: {tp_size: 2, dp_size: 4, ep_size: 4}\n"},
     Target::nanotron,
     kWithoutViolations,
     when<uses_expert_parallelism, describe_experts>,
     uses_expert_parallelism},
};

}  // namespace
}  // namespace nanotron_impl

std::span<const Rule> nanotron_rules() { return nanotron_impl::kRules; }

}  // namespace rankwright::rules
