// RW0561..: what nanotron refuses, cannot express, or silently does otherwise than the plan says.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/rules/change.h"
#include "rankwright/rules/target_findings.h"

namespace rankwright::rules {
namespace nanotron_impl {
namespace {

bool kv_heads(const plan::TrainingConfig& s) {
  return undivided_kv_heads(s.model, s.plan.tp).has_value();
}

bool zero(const plan::TrainingConfig& s) { return s.plan.zero >= 2; }

bool schedule(const plan::TrainingConfig& s) {
  const bool known = s.plan.schedule == pipeline::Schedule::gpipe ||
                     s.plan.schedule == pipeline::Schedule::one_f_one_b;
  return s.plan.virtual_stages > 1 || (s.plan.pp > 1 && !known);
}

bool order(const plan::TrainingConfig& s) { return !same_order(s, mesh::kDefaultOrder); }

bool few_microbatches(const plan::TrainingConfig& s) {
  return s.plan.pp > 1 && s.plan.schedule == pipeline::Schedule::one_f_one_b &&
         s.microbatches() < s.plan.pp - 1;
}

bool hybrid(const plan::TrainingConfig& s) {
  return s.plan.zero >= 1 && s.plan.shards() != s.plan.data_ranks();
}

/// Some rank is not on the slot of its host that its number says. Whole hosts may trade places.
bool placement(const plan::TrainingConfig& s) {
  const mesh::Placement& placement = s.plan.placement;
  const i64 host = std::max<i64>(1, s.cluster.host_devices);
  if (placement.kind == mesh::Placement::Kind::block) return false;
  for (i64 rank = 0; rank < s.world; ++rank)
    if (placement.device(rank) % host != rank % host) return true;
  return false;
}

bool ring(const plan::TrainingConfig& s) {
  return s.plan.cp > 1 && s.plan.cp_comm != plan::CpComm::p2p;
}

/// What it stops at, or gets wrong; a fix brings none of these.
constexpr Fault kFaults[] = {kv_heads,         zero,   schedule,  order,
                             few_microbatches, hybrid, placement, ring};

bool sharded_over_cp(const plan::TrainingConfig& s) { return s.plan.zero >= 1 && s.plan.cp > 1; }

bool selective(const plan::TrainingConfig& s) {
  return s.plan.recompute == plan::Recompute::selective;
}

bool some_layers(const plan::TrainingConfig& s) {
  return s.plan.recompute == plan::Recompute::full && s.plan.recompute_layers > 0;
}

bool experts(const plan::TrainingConfig& s) { return s.plan.ep > 1; }

Finding tell_kv_heads(const plan::TrainingConfig& s) {
  return kv_heads_undivided(s, kv_heads, kFaults);
}

Finding tell_zero(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("zero_stage {} would run as 1", s.plan.zero),
          .key = "parallelism.zero_stage",
          .fix = first_mend(s, zero, kFaults, {Change(s).zero(1)}),
          .hint = "zero_stage: 1"};
}

Finding tell_schedule(const plan::TrainingConfig& s) {
  const i64 enough = std::max(s.microbatches(), s.plan.pp);
  const auto plain = [&] { return Change(s).chunks(1, pipeline::Schedule::one_f_one_b); };
  return {.detail = fmt::format("{} with {} a pp rank", name(s.plan.schedule),
                                plural(s.plan.virtual_stages, "chunk", "chunks")),
          .key = "parallelism.schedule",
          .fix = first_mend(s, schedule, kFaults,
                            {plain(), plain().even_stages(), plain().microbatches(enough)}),
          .hint = "schedule: 1f1b, virtual_stages: 1"};
}

Finding tell_order(const plan::TrainingConfig& s) { return order_is_fixed(s, order, kFaults); }

Finding tell_few_microbatches(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("{} for pp {}",
                                plural(s.microbatches(), "microbatch", "microbatches"), s.plan.pp),
          .key = "job.global_batch",
          .fix = first_mend(s, few_microbatches, kFaults, {Change(s).microbatches(s.plan.pp)}),
          .hint = "a larger global_batch"};
}

Finding tell_hybrid(const plan::TrainingConfig& s) { return shards_over_all(s, hybrid, kFaults); }

Finding tell_placement(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("hosts have {} devices, and not every rank r sits in slot r mod {}",
                                s.cluster.host_devices, s.cluster.host_devices),
          .key = "placement",
          .fix = first_mend(s, placement, kFaults, {Change(s).block_placement()}),
          .hint = "placement: block"};
}

Finding tell_ring(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("cp {} with cp_comm {}", s.plan.cp, name(s.plan.cp_comm)),
          .key = "parallelism.cp_comm",
          .fix = first_mend(s, ring, kFaults, {Change(s).cp_comm(plan::CpComm::p2p)}),
          .hint = "cp_comm: p2p"};
}

Finding tell_sharded_over_cp(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("states are sharded over dp {}, not over dp x cp = {}", s.plan.dp,
                                s.plan.data_ranks()),
          .key = "parallelism.zero_stage"};
}

Finding tell_stages(const plan::TrainingConfig& s) {
  return stages_cannot_be_stated(s, uneven_stages, kFaults);
}

Finding tell_selective(const plan::TrainingConfig& s) {
  return recompute_is_whole(s, selective, kFaults);
}

Finding tell_some_layers(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("{} a pp rank cannot be singled out",
                                plural(s.plan.recompute_layers, "layer", "layers")),
          .key = "parallelism.recompute",
          .fix = first_mend(s, some_layers, kFaults, {Change(s).recompute(plan::Recompute::full)})};
}

Finding tell_experts(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("ep is {}", s.plan.ep),
          .key = "parallelism.ep_size",
          .hint = "ep_size: 1, or a build with pull request 373"};
}

constexpr Rule::When kSound = Rule::When::without_misfits;

constexpr Rule kRules[] = {
    {{"RW0561", Severity::error, "nanotron wants whole key-value heads on every tp rank",
      "Its config refuses fewer heads than tp. It does not check the division: 6 heads on tp 4 "
      "pass, are rounded down to one each, and go wrong later.",
      "Use a tp_size that divides the key-value heads.",
      "nanotron config/config.py; models/qwen.py",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 16, dp_size: 1}\n"},
     Target::nanotron,
     kSound,
     when<kv_heads, tell_kv_heads>,
     kv_heads},
    {{"RW0562", Severity::error, "nanotron runs ZeRO-2 and ZeRO-3 as ZeRO-1",
      "zero_stage is any number and only asked whether it is above 0. Gradients and parameters "
      "stay whole on every rank, and nothing says so: the memory that the plan counts on is not "
      "there.",
      "Use zero_stage: 1.", "nanotron helpers.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 1, dp_size: 8, zero_stage: 3}\n"},
     Target::nanotron,
     kSound,
     when<zero, tell_zero>,
     zero},
    {{"RW0563", Severity::error, "nanotron pipelines run all-forward-all-backward or 1F1B",
      "pp_engine is afab (GPipe, the default) or 1f1b, with one stage a rank.",
      "Use schedule: 1f1b and virtual_stages: 1.", "nanotron config/utils_config.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 2, dp_size: 4, virtual_stages: 2}\n"},
     Target::nanotron,
     kSound,
     when<schedule, tell_schedule>,
     schedule},
    {{"RW0564", Severity::error, "nanotron numbers ranks in one order only",
      "Its grid is ep, pp, dp, cp, tp with tp innermost.",
      "Use the default order; what else was wanted is a matter of the cluster's.",
      "nanotron parallel/context.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 2, dp_size: 4, order: tp-pp-dp}\n"},
     Target::nanotron,
     kSound,
     when<order, tell_order>,
     order},
    {{"RW0565", Severity::error, "nanotron's 1F1B needs at least pp - 1 microbatches",
      "The engine asserts it. M is batch_accumulation_per_replica.",
      "Use a larger global_batch, or smaller microbatches.", "nanotron pipeline_parallel/engine.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 4, dp_size: 2}\n"
      "job: {global_batch: 4}\n"},
     Target::nanotron,
     kSound,
     when<few_microbatches, tell_few_microbatches>,
     few_microbatches},
    {{"RW0566", Severity::error, "nanotron has no hybrid sharding",
      "Its optimizer shards over all of dp.", "Leave shard_size out.", "nanotron helpers.py",
      "world_size: 16\n"
      "model: llama-3.2-1b\n"
      "parallelism: {dp_size: 16, zero_stage: 1, shard_size: 8}\n"},
     Target::nanotron,
     kSound,
     when<hybrid, tell_hybrid>,
     hybrid},
    {{"RW0567", Severity::error, "nanotron wants ranks to fill hosts one after another",
      "It derives the local rank from the rank and stops with a local rank mismatch where the "
      "launcher gave another.",
      "Use placement: block, or trade whole hosts.", "nanotron parallel/context.py",
      "world_size: 16\n"
      "model: llama-3.2-1b\n"
      "parallelism: {dp_size: 16}\n"
      "placement: cyclic\n"},
     Target::nanotron,
     kSound,
     when<placement, tell_placement>,
     placement},
    {{"RW0568", Severity::error, "nanotron cuts sequences by a ring only",
      "context_parallel_size works with the ring attentions of its llama and qwen models; others "
      "do not look at it.",
      "Use cp_comm: p2p.", "nanotron config/parallelism_config.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {cp_size: 2, dp_size: 4, cp_comm: a2a}\n"},
     Target::nanotron,
     kSound,
     when<ring, tell_ring>,
     ring},
    {{"RW0569", Severity::warning, "nanotron shards the optimizer over dp alone",
      "Here and in Megatron-LM states are sharded over dp x cp; nanotron's group is dp, so each "
      "rank holds cp times as much.",
      "Count on cp times the optimizer's share.", "nanotron helpers.py, dp_pg",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {cp_size: 2, dp_size: 4, zero_stage: 1}\n"},
     Target::nanotron,
     kSound,
     when<sharded_over_cp, tell_sharded_over_cp>,
     sharded_over_cp},
    {{"RW0570", Severity::warning, "nanotron does not take stages from a list",
      "It assigns blocks to ranks by their cumulative compute cost, the output head counted.",
      "Use the even split, and expect the last stage to be smaller.", "nanotron models/base.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 2, dp_size: 4, stages: [9, 7]}\n"},
     Target::nanotron,
     kSound,
     when<uneven_stages, tell_stages>,
     uneven_stages},
    {{"RW0571", Severity::warning, "nanotron has no selective recompute",
      "recompute_layer is a switch for whole layers.", "Use recompute: full.",
      "nanotron config/parallelism_config.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {dp_size: 8, recompute: selective}\n"},
     Target::nanotron,
     kSound,
     when<selective, tell_selective>,
     selective},
    {{"RW0572", Severity::warning, "nanotron recomputes all layers or none",
      "recompute_layer is a switch for the whole model.", "Use recompute: full.",
      "nanotron config/parallelism_config.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {dp_size: 8, recompute: {full: 4}}\n"},
     Target::nanotron,
     kSound,
     when<some_layers, tell_some_layers>,
     some_layers},
    {{"RW0573", Severity::warning, "nanotron has expert parallelism in no release",
      "The pull request that brings it was open when this was written; with it the grid is dp, pp, "
      "cp, tp with dp outermost.",
      "Use ep_size: 1, or check the branch that you run.",
      "nanotron pull request 373; parallel/context.py",
      "world_size: 8\n"
      "model: {architecture: mixtral, hidden: 1024, layers: 8, heads: 16, kv_heads: 8, "
      "expert_ffn: 2048, vocab: 32768, experts: 8, active_experts: 2}\n"
      "parallelism: {tp_size: 2, dp_size: 4, ep_size: 4}\n"},
     Target::nanotron,
     kSound,
     when<experts, tell_experts>,
     experts},
};

}  // namespace
}  // namespace nanotron_impl

std::span<const Rule> nanotron_rules() { return nanotron_impl::kRules; }

}  // namespace rankwright::rules
