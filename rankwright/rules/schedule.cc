// RW04..: the pipeline's schedule, stages and microbatches, and switches without effect.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/cost/step.h"
#include "rankwright/cost/traffic_cost.h"
#include "rankwright/cost/work.h"
#include "rankwright/pipeline/bubble.h"
#include "rankwright/rules/repair.h"
#include "rankwright/rules/rule.h"

namespace rankwright::rules {
namespace schedule_impl {
namespace {

double get_ideal_bubble(const plan::TrainingConfig& s) {
  return pipeline::bubble_fraction(s.plan.schedule, s.plan.pp, s.plan.virtual_stages,
                                   s.microbatches());
}

/// Returns the edit of the global batch with which each pipeline runs `microbatches`.
Edit batch_for(const plan::TrainingConfig& s, i64 microbatches) {
  return edit("job.global_batch", microbatches * s.plan.micro_batch * s.plan.dp);
}

std::optional<Finding> check_too_few_microbatches(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  const i64 m = s.microbatches();
  if (s.plan.pp == 1 || m >= s.plan.pp) return std::nullopt;
  return Finding{
      .detail = fmt::format(
          "{} for {} PP ranks: some always wait; the ideal bubble is {} of the step",
          plural(m, "micro-batch", "micro-batches"), s.plan.pp, percent(get_ideal_bubble(s))),
      .key = "job.global_batch",
      .fix = {batch_for(s, 4 * s.plan.pp)}};
}

std::optional<Finding> check_large_bubble(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  constexpr double kMax = 0.2;
  const i64 m = s.microbatches();
  if (s.plan.pp == 1 || m < s.plan.pp || get_ideal_bubble(s) <= kMax) return std::nullopt;
  const i64 enough = [&] {
    i64 more = m;
    while (pipeline::bubble_fraction(s.plan.schedule, s.plan.pp, s.plan.virtual_stages, more) >
           kMax)
      more += s.plan.pp;
    return more;
  }();
  return Finding{
      .detail = fmt::format(
          "{} on {} PP ranks with {}: the ideal bubble is {} of the step", name(s.plan.schedule),
          s.plan.pp, plural(m, "micro-batch", "micro-batches"), percent(get_ideal_bubble(s))),
      .key = "parallelism.pp_size",
      .fix = {batch_for(s, enough)},
      .notes = {"raising virtual_stages or lowering pp_size also shrinks it"}};
}

std::optional<Finding> check_sequence_without_tensor(const Subject& subject) {
  const plan::Plan& plan = subject.config.plan;
  if (!plan.sequence_parallel || plan.tp > 1) return std::nullopt;
  return Finding{.detail = "sequence_parallel: true has no effect with TP 1",
                 .key = "parallelism.sequence_parallel",
                 .fix = {edit("parallelism.sequence_parallel", "false")}};
}

/// Returns whether a step takes less time. Both plans must be valid, or neither is faster.
bool is_faster(const plan::TrainingConfig& after, const plan::TrainingConfig& before) {
  if (find_first_violation(after) || find_first_violation(before)) return false;
  return cost::estimate_step_time(after, select_calibration(after)).total() <
         cost::estimate_step_time(before, select_calibration(before)).total();
}

std::optional<Finding> check_uneven_work(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  constexpr double kMaxImbalance = 0.1;
  if (s.plan.pp == 1 || s.reference_model) return std::nullopt;
  const std::vector<Flops> by_rank = cost::work(s);
  const double before = cost::imbalance(by_rank);
  if (before <= kMaxImbalance) return std::nullopt;
  const i64 busiest = std::max_element(by_rank.begin(), by_rank.end()) - by_rank.begin();
  Finding finding{.detail = fmt::format(
                      "PP rank {} computes {} more than the average, and the others wait for it",
                      busiest, percent(before)),
                  .key = "parallelism.stages"};
  if (contents(s, busiest).loss)
    finding.notes.push_back("it also computes the output head and the loss");
  const split::Split split = find_best_split(cost::make_split_task(s));
  if (split.fault != split::Split::Fault::none) return finding;
  plan::TrainingConfig after = s;
  after.plan.stages = split.stages;
  const double left = cost::imbalance(cost::work(after));
  const bool best = split.rank_weight <= split.min_rank_weight;
  if (left < before && is_faster(after, s) &&
      removes_violation(s, after, plan::ConstraintViolation::Why::none)) {
    const std::string layout = show_layout(after.plan.stages);
    // A better split is the fix only if it clears the threshold; otherwise it is a hint.
    if (left <= kMaxImbalance)
      finding.fix = {edit("parallelism.stages", layout)};
    else
      finding.hint = "stages: " + layout;
    finding.notes.push_back(
        fmt::format("with these stages, the busiest PP rank computes {} more than the average{}",
                    percent(left), best ? "; no other split is better" : ""));
    return finding;
  }
  // There is nothing to do about stages that no split of the layers makes more even.
  return best ? std::nullopt : std::optional(finding);
}

std::optional<Finding> check_uneven_layers(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  const i64 stages = s.plan.pp * s.plan.virtual_stages;
  if (s.reference_model || !s.plan.stages.empty() || s.model.layers() % stages == 0)
    return std::nullopt;
  const std::string layout = show_layout(s.stages());
  constexpr i64 kMaxListed = 16;
  return Finding{
      .detail = fmt::format("{} layers over {} stages: assumed {}", s.model.layers(), stages,
                            stages <= kMaxListed ? show_layers(s.stages()) : layout),
      .key = "parallelism.pp_size",
      .fix = {edit("parallelism.stages", layout)}};
}

std::optional<Finding> check_sharded_gradients_in_pipeline(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  if (s.plan.pp == 1 || s.plan.zero < 2 || s.plan.data_ranks() == 1) return std::nullopt;
  if (subject.target != Target::any && row_of_rules(subject.target).reduces_once)
    return std::nullopt;
  const auto data_bytes = [](const plan::TrainingConfig& config) {
    Bytes sum{};
    for (const cost::TrafficCost& row : cost::estimate_traffic(config, 0))
      if (row.traffic.group == mesh::GroupKind::dp_cp ||
          row.traffic.group == mesh::GroupKind::shard)
        sum += row.traffic.total;
    return sum;
  };
  plan::TrainingConfig one = s;
  one.plan.zero = 1;
  // Shards on one rank reduce nothing more: their replicas meet once.
  if (data_bytes(s) <= data_bytes(one)) return std::nullopt;
  return Finding{.detail = fmt::format("ZeRO-{} reduces gradients in each of {} micro-batches: {} "
                                       "per step, against {} with ZeRO-1",
                                       s.plan.zero, count(s.microbatches()), show(data_bytes(s)),
                                       show(data_bytes(one))),
                 .key = "parallelism.zero_stage",
                 .fix = {edit("parallelism.zero_stage", 1)}};
}

std::optional<Finding> check_group_without_chunks(const Subject& subject) {
  const plan::Plan& plan = subject.config.plan;
  if (plan.microbatch_group == 0 || plan.virtual_stages > 1) return std::nullopt;
  return Finding{
      .detail = fmt::format("microbatch_group {} has no effect with one virtual stage per PP rank",
                            plan.microbatch_group),
      .key = "parallelism.microbatch_group",
      .hint = "remove microbatch_group, or set virtual_stages: 2"};
}

std::optional<Finding> check_too_many_recomputed(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  i64 max = 0;
  for (const plan::Stage& stage : s.stages()) max = std::max(max, stage.layers);
  if (s.plan.recompute_layers <= max) return std::nullopt;
  return Finding{.detail = fmt::format("recompute asks for {} layers, but a stage has at most {}",
                                       s.plan.recompute_layers, max),
                 .key = "parallelism.recompute",
                 .fix = {edit("parallelism.recompute", "full")}};
}

std::optional<Finding> check_overlap_without_sequence(const Subject& subject) {
  const plan::Plan& plan = subject.config.plan;
  if (!plan.overlap.tp || (plan.tp > 1 && plan.sequence_parallel)) return std::nullopt;
  return Finding{.detail = plan.tp == 1 ? "overlap.tp has no effect with TP 1"
                                        : "overlap.tp overlaps all-gathers and reduce-scatters; "
                                          "without sequence parallelism there are none",
                 .key = "parallelism.overlap.tp",
                 .fix = {plan.tp == 1 ? edit("parallelism.overlap.tp", "false")
                                      : edit("parallelism.sequence_parallel", "true")}};
}

std::optional<Finding> check_batch_left_open(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  const bool batch = s.left_open("job.global_batch");
  const bool sequence = s.left_open("job.sequence");
  if (!batch && !sequence) return std::nullopt;
  const std::string sequences =
      batch ? plural(s.job.global_batch, "sequence", "sequences") : "sequences";
  const std::string tokens =
      sequence ? fmt::format(" of {} tokens", count(s.job.sequence)) : std::string();
  Finding finding{.detail = fmt::format("assumed {}{}: {} per pipeline", sequences, tokens,
                                        plural(s.microbatches(), "micro-batch", "micro-batches")),
                  .key = "job"};
  if (batch) finding.fix.push_back(edit("job.global_batch", s.job.global_batch));
  if (sequence) finding.fix.push_back(edit("job.sequence", s.job.sequence));
  return finding;
}

std::optional<Finding> check_chunks_without_pipeline(const Subject& subject) {
  const plan::Plan& plan = subject.config.plan;
  if (plan.pp > 1 || plan.virtual_stages == 1) return std::nullopt;
  return Finding{
      .detail = fmt::format("virtual_stages {} has no effect with PP 1: there is no bubble",
                            plan.virtual_stages),
      .key = "parallelism.virtual_stages",
      .fix = {edit("parallelism.virtual_stages", 1)}};
}

constexpr Rule::When kWithoutViolations = Rule::When::without_violations;

std::optional<Finding> check_split_pairs(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  if (s.plan.micro_batch % row(s.job.method).sequences == 0) return std::nullopt;
  return Finding{.detail = fmt::format("{} trains on pairs of sequences, and a micro-batch has {}",
                                       name(s.job.method),
                                       plural(s.plan.micro_batch, "sequence", "sequences")),
                 .key = "parallelism.micro_batch",
                 .hint = fmt::format("micro_batch: {}", s.plan.micro_batch + 1)};
}

constexpr Rule kRules[] = {
    {{"RW0401", Severity::warning, "fewer micro-batches than PP ranks",
      "All PP ranks work only while each has a micro-batch. With fewer micro-batches, some ranks "
      "always wait; some frameworks hang or refuse to start.",
      "Raise global_batch, lower micro_batch, or lower pp_size.",
      "torchtitan issue 775; Narayanan et al. 2021, section 2.2",
      "world_size: 64\n"
      "cluster: dgx-h100 x 8\n"
      "model: llama-3.1-70b\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, zero_stage: 1, order: tp-dp-pp}\n"
      "job: {global_batch: 4, sequence: 8192}\n"},
     Target::any,
     kWithoutViolations,
     check_too_few_microbatches},
    {{"RW0402", Severity::warning, "the ideal pipeline bubble exceeds 20 % of the step",
      "With 1F1B and equal stages, (PP - 1) / (micro-batches + PP - 1) of the step is idle. "
      "Virtual "
      "stages and zero-bubble schedules shrink it.",
      "Raise global_batch or virtual_stages, use another schedule, or lower pp_size.",
      "Narayanan et al. 2021, section 2.2",
      "world_size: 64\n"
      "cluster: dgx-h100 x 8\n"
      "model: llama-3.1-70b\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, zero_stage: 1, order: tp-dp-pp}\n"
      "job: {global_batch: 16, sequence: 8192}\n"},
     Target::any,
     kWithoutViolations,
     check_large_bubble},
    {{"RW0403", Severity::warning, "sequence parallelism without tensor parallelism has no effect",
      "Megatron-style sequence parallelism uses the tensor-parallel group. Without one, frameworks "
      "turn it off silently.",
      "Remove sequence_parallel. To split the sequence itself, set cp_size.",
      "Megatron-LM training/arguments.py, validate_args",
      "world_size: 8\n"
      "cluster: dgx-h100 x 1\n"
      "model: llama-3.2-1b\n"
      "parallelism: {dp_size: 8, sequence_parallel: true, zero_stage: 1}\n"
      "job: {global_batch: 64, sequence: 4096}\n"},
     Target::any,
     Rule::When::always,
     check_sequence_without_tensor},
    {{"RW0404", Severity::warning, "the layers do not divide evenly over the stages",
      "Some frameworks round down silently: 30 layers on 4 PP ranks have trained as 28.",
      "List the layers of each stage: stages: [8, 8, 7, 7].", "Megatron-LM issue 1304",
      "world_size: 8\n"
      "cluster: dgx-h100 x 1\n"
      "model: {architecture: llama, hidden: 2048, layers: 30, heads: 16, ffn: 8192, vocab: 32000}\n"
      "parallelism: {pp_size: 4, dp_size: 2, zero_stage: 1, order: tp-dp-pp}\n"
      "job: {global_batch: 64, sequence: 4096}\n"},
     Target::any,
     kWithoutViolations,
     check_uneven_layers},
    {{"RW0405", Severity::warning, "one PP rank computes more than the others",
      "The slowest PP rank sets the pace of the pipeline. The last one also computes the output "
      "head, which costs as much as several layers if the vocabulary is large.",
      "Give the first and last stages fewer layers: set `stages` as the fix shows.",
      "Llama 3 report, section 3.3.2",
      "world_size: 8\n"
      "cluster: dgx-h100 x 1\n"
      "model: llama-3.1-8b\n"
      "parallelism: {pp_size: 8, dp_size: 1, order: tp-dp-pp}\n"
      "job: {global_batch: 64, sequence: 4096}\n"},
     Target::any,
     kWithoutViolations,
     check_uneven_work},
    {{"RW0406", Severity::warning, "gradients are reduced in every micro-batch of the pipeline",
      "ZeRO-2 and ZeRO-3 keep only a shard of the gradients, so every micro-batch is reduced "
      "separately. ZeRO-1 reduces once per step. Pipelines have many micro-batches.",
      "Set zero_stage: 1 when pp_size is above 1.",
      "DeepSpeed runtime/pipe/engine.py refuses the combination",
      "world_size: 64\n"
      "cluster: dgx-h100 x 8\n"
      "model: llama-3.1-70b\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, zero_stage: 2, order: tp-dp-pp}\n"
      "job: {global_batch: 128, sequence: 8192}\n"},
     Target::any,
     kWithoutViolations,
     check_sharded_gradients_in_pipeline},
    {{"RW0407", Severity::warning, "microbatch_group without virtual stages has no effect",
      "microbatch_group is the number of micro-batches that pass one virtual stage before the "
      "next. With one virtual stage it has no effect.",
      "Remove microbatch_group, or set virtual_stages: 2.", "",
      "world_size: 64\n"
      "cluster: dgx-h100 x 8\n"
      "model: llama-3.1-70b\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, zero_stage: 1, order: tp-dp-pp, "
      "microbatch_group: 4}\n"
      "job: {global_batch: 128, sequence: 8192}\n"},
     Target::any,
     Rule::When::always,
     check_group_without_chunks},
    {{"RW0408", Severity::warning, "recompute asks for more layers than a stage has",
      "`recompute: {full: N}` recomputes the first N layers of each stage.",
      "Set recompute: full to recompute all of them.", "",
      "world_size: 64\n"
      "cluster: dgx-h100 x 8\n"
      "model: llama-3.1-70b\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, zero_stage: 1, order: tp-dp-pp, "
      "recompute: "
      "{full: 40}}\n"
      "job: {global_batch: 128, sequence: 8192}\n"},
     Target::any,
     kWithoutViolations,
     check_too_many_recomputed},
    {{"RW0409", Severity::warning, "tensor-parallel overlap has nothing to overlap",
      "The overlap splits the all-gathers and reduce-scatters of sequence parallelism into pieces "
      "that run during the matmuls.",
      "Set sequence_parallel: true, or remove overlap.tp.",
      "Megatron-LM training/arguments.py, on --tp-comm-overlap",
      "world_size: 64\n"
      "cluster: dgx-h100 x 8\n"
      "model: llama-3.1-70b\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, zero_stage: 1, order: tp-dp-pp, "
      "sequence_parallel: false, overlap: {tp: true}}\n"
      "job: {global_batch: 128, sequence: 4096}\n"},
     Target::any,
     Rule::When::always,
     check_overlap_without_sequence},
    {{"RW0410", Severity::note, "no batch size or sequence length given",
      "The bubble, activation memory and the number of collectives depend on the batch size and "
      "the sequence length.",
      "Set job.global_batch and job.sequence.", "",
      "world_size: 64\n"
      "cluster: dgx-h100 x 8\n"
      "model: llama-3.1-70b\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, zero_stage: 1, order: tp-dp-pp}\n"},
     Target::any,
     kWithoutViolations,
     check_batch_left_open},
    {{"RW0411", Severity::warning, "virtual stages without a pipeline have no effect",
      "Virtual stages shrink the bubble of a pipeline. With one PP rank there is no bubble.",
      "Set virtual_stages: 1.", "Megatron-LM training/arguments.py, validate_args",
      "world_size: 8\n"
      "cluster: dgx-h100 x 1\n"
      "model: llama-3.2-1b\n"
      "parallelism: {dp_size: 8, virtual_stages: 2, zero_stage: 1}\n"
      "job: {global_batch: 64, sequence: 4096}\n"},
     Target::any,
     Rule::When::always,
     check_chunks_without_pipeline},
    {{"RW0412", Severity::error, "a micro-batch splits a pair of sequences",
      "Preference optimization compares a chosen and a rejected sequence, which run in one "
      "micro-batch. micro_batch and global_batch count sequences, two per pair.",
      "Set micro_batch to an even number: twice the pairs per device.",
      "TRL, trainer/dpo_trainer.py: the batch is the chosen and then the rejected sequences",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 1, dp_size: 8, micro_batch: 3, order: tp-dp-pp}\n"
      "job: {sequence: 2048, global_batch: 48, method: dpo}\n"},
     Target::any,
     kWithoutViolations,
     check_split_pairs},
};

}  // namespace
}  // namespace schedule_impl

std::span<const Rule> schedule_rules() { return schedule_impl::kRules; }

}  // namespace rankwright::rules
