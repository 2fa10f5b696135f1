// RW02..: does it fit? States only (parameters, gradients, optimizer); activations come on top.
#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/cost/states.h"
#include "rankwright/rules/repair.h"
#include "rankwright/rules/rule.h"

namespace rankwright {
namespace {

/// What states may take of a device: activations, buffers and the context need the rest.
constexpr double kRoomForStates = 0.8;

bool fits(const Setup& setup, double share) {
  return fullest_rank(setup).states.total() <= share * setup.cluster.device.memory;
}

Setup with_zero(const Setup& setup, int stage) {
  Setup after = setup;
  after.plan.zero = stage;
  return after;
}

/// "ZeRO-1 leaves 58.4 GiB, ZeRO-2 ...": what each higher stage would hold on the fullest rank.
std::string what_zero_leaves(const Setup& setup) {
  std::string text;
  for (int stage = setup.plan.zero + 1; stage <= 3; ++stage)
    text += fmt::format("{}ZeRO-{} leaves {}", text.empty() ? "" : ", ", stage,
                        show_memory(fullest_rank(with_zero(setup, stage)).states.total()));
  return text;
}

/// The ZeRO stages that a target has, least first.
std::vector<int> zero_stages(Target target) {
  if (target == Target::torchtitan) return {2, 3};
  if (target == Target::nanotron) return {1};
  return {1, 2, 3};
}

/// The least sharding that fits, else other degrees that do.
std::vector<Edit> smaller(const Setup& setup, double share, Target target) {
  for (const int stage : zero_stages(target)) {
    // ZeRO-2 and 3 reduce every microbatch of a pipeline: there degrees come first.
    const bool costly = setup.plan.pp > 1 && stage > 1 && target != Target::torchtitan;
    if (stage > setup.plan.zero && !costly && fits(with_zero(setup, stage), share))
      return {edit("parallelism.zero_stage", stage)};
  }
  std::vector<int> stages = zero_stages(target);
  stages.insert(stages.begin(), setup.plan.zero);
  for (const int stage : stages) {
    if (stage < setup.plan.zero) continue;
    std::vector<Edit> edits =
        other_degrees(with_zero(setup, stage), Misfit::Why::none, [&](const Setup& after) {
          const bool inside = after.plan.tp <= setup.cluster.domain(0);
          return inside && fits(after, share);
        });
    if (edits.empty()) continue;
    if (stage != setup.plan.zero) edits.push_back(edit("parallelism.zero_stage", stage));
    return edits;
  }
  return {};
}

std::string states_text(const States& states) {
  std::string text =
      fmt::format("parameters {}, gradients {}, optimizer {}", show_memory(states.parameters),
                  show_memory(states.gradients), show_memory(states.optimizer));
  if (states.gathered > Bytes{}) text += ", gathered layers " + show_memory(states.gathered);
  return text;
}

std::optional<Finding> states_do_not_fit(const Subject& subject) {
  const Setup& s = subject.setup;
  if (s.reference_model || fits(s, 1)) return std::nullopt;
  const Fullest fullest = fullest_rank(s);
  Finding finding{
      .detail = fmt::format("{} of states on pp rank {}, but {} has {}",
                            show_memory(fullest.states.total()), fullest.pp_rank,
                            s.cluster.device.name, show_memory(s.cluster.device.memory)),
      .key = "parallelism",
      .fix = smaller(s, kRoomForStates, subject.target)};
  finding.notes.push_back(states_text(fullest.states));
  if (s.plan.zero < 3 && s.plan.data_ranks() > 1) finding.notes.push_back(what_zero_leaves(s));
  if (finding.fix.empty())
    finding.hint =
        fmt::format("no tp x pp x dp of {} ranks holds it: use more GPUs", count(s.world));
  return finding;
}

std::optional<Finding> no_room_for_activations(const Subject& subject) {
  const Setup& s = subject.setup;
  if (s.reference_model || !fits(s, 1) || fits(s, kRoomForStates)) return std::nullopt;
  const Fullest fullest = fullest_rank(s);
  const Bytes left = s.cluster.device.memory - fullest.states.total();
  Finding finding{.detail = fmt::format("states take {} of {} on pp rank {}: {} are left",
                                        show_memory(fullest.states.total()),
                                        show_memory(s.cluster.device.memory), fullest.pp_rank,
                                        show_memory(left)),
                  .key = "parallelism",
                  .fix = smaller(s, kRoomForStates, subject.target),
                  .notes = {states_text(fullest.states)}};
  if (finding.fix.empty()) finding.hint = "use more GPUs, or recompute: full";
  return finding;
}

std::optional<Finding> replicated_optimizer(const Subject& subject) {
  const Setup& s = subject.setup;
  constexpr double kWorthSaying = 0.1;
  if (s.reference_model || s.plan.zero > 0 || s.plan.data_ranks() == 1 ||
      !fits(s, kRoomForStates) || zero_stages(subject.target).front() != 1)
    return std::nullopt;
  const Bytes whole = fullest_rank(s).states.optimizer;
  const Bytes sharded = fullest_rank(with_zero(s, 1)).states.optimizer;
  if (whole - sharded < kWorthSaying * s.cluster.device.memory) return std::nullopt;
  return Finding{
      .detail = fmt::format("each of {} data ranks keeps the same {} of optimizer states",
                            count(s.plan.data_ranks()), show_memory(whole)),
      .key = "parallelism.zero_stage",
      .fix = {edit("parallelism.zero_stage", 1)},
      .notes = {fmt::format("ZeRO-1 leaves {}, for a reduce-scatter and an all-gather of "
                            "the same volume as the all-reduce",
                            show_memory(sharded))}};
}

std::optional<Finding> model_left_open(const Subject& subject) {
  if (!subject.setup.reference_model) return std::nullopt;
  return Finding{.detail = fmt::format("prices are those of {}'s layers; whether it fits cannot be "
                                       "said",
                                       subject.setup.model.name),
                 .key = "model",
                 .fix = {edit("model", subject.setup.model.name)}};
}

constexpr Rule kRules[] = {
    {{"RW0201", Severity::error, "the model's states do not fit",
      "Parameters, gradients and optimizer take 16 bytes a parameter with bf16 and Adam: 2 + 2 + 4 "
      "(fp32 copy) + 8 (two moments). tp and pp divide the parameters of a rank, plain dp does "
      "not: "
      "64 GPUs with dp 64 hold 64 whole copies.",
      "Shard with zero_stage, cut layers with tp_size, spread them with pp_size.",
      "ZeRO (Rajbhandari et al. 2020), section 3",
      "world_size: 64\n"
      "model: llama-3.1-8b\n"
      "cluster: dgx-h100 x 8\n"
      "parallelism: {dp_size: 64}\n"},
     Target::any,
     Rule::When::without_misfits,
     states_do_not_fit},
    {{"RW0202", Severity::warning, "the states leave little room for activations",
      "Activations, communication buffers and the framework's own context come on top of the "
      "states. "
      "Above four fifths of the device there is rarely room for them.",
      "Shard further, cut further, or recompute.", "",
      "world_size: 8\n"
      "model: llama-3.1-8b\n"
      "cluster: dgx-h100 x 1\n"
      "parallelism: {tp_size: 2, dp_size: 4, order: tp-dp-pp, recompute: full}\n"
      "job: {global_batch: 64, sequence: 8192, grad_dtype: fp32}\n"},
     Target::any,
     Rule::When::without_misfits,
     no_room_for_activations},
    {{"RW0203", Severity::note, "every data rank keeps the same optimizer states",
      "Plain data parallelism repeats 12 of the 16 bytes a parameter on every data rank, though "
      "each "
      "rank needs them for its part of the update only.",
      "ZeRO-1 (the distributed optimizer) costs no more traffic.",
      "ZeRO (Rajbhandari et al. 2020), section 5",
      "world_size: 64\n"
      "model: llama-3.1-70b\n"
      "cluster: dgx-h100 x 8\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, order: tp-dp-pp}\n"
      "job: {global_batch: 128, sequence: 8192}\n"},
     Target::any,
     Rule::When::without_misfits,
     replicated_optimizer},
    {{"RW0204", Severity::warning, "the plan names no model",
      "Degrees can be multiplied without a model, but nothing can be said about memory, and prices "
      "are those of a reference.",
      "Name a catalog model (rankwright catalog models), a config.json, or shapes.", "",
      "world_size: 64\n"
      "cluster: dgx-h100 x 8\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, order: tp-dp-pp}\n"},
     Target::any,
     Rule::When::always,
     model_left_open},
};

}  // namespace

std::span<const Rule> memory_rules() { return kRules; }

}  // namespace rankwright
