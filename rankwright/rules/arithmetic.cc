// RW01..: constraints that arithmetic imposes on any framework. Each rule describes one
// ConstraintViolation and proposes the nearest plan without it.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/rules/change.h"
#include "rankwright/rules/repair.h"
#include "rankwright/rules/rule.h"

namespace rankwright::rules {
namespace arithmetic_impl {
namespace {

using Why = plan::ConstraintViolation::Why;

/// The check of a rule: passes the subject's violation of kind `why`, if any, to `describe`.
template <Why why,
          Finding (*describe)(const plan::TrainingConfig&, const plan::ConstraintViolation&)>
std::optional<Finding> check_violation(const Subject& subject) {
  for (const plan::ConstraintViolation& violation : subject.violations)
    if (violation.why == why) return describe(subject.config, violation);
  return std::nullopt;
}

/// Returns the degrees as a product: "tp 8 x pp 4 x dp 3". Omits cp if it is 1.
std::string degrees_text(const plan::Plan& plan) {
  std::string text = fmt::format("TP {}", plan.tp);
  if (plan.cp > 1) text += fmt::format(" x CP {}", plan.cp);
  return text + fmt::format(" x PP {} x DP {}", plan.pp, plan.dp);
}

/// Returns the edits of the first change that removes `why` and adds no violation; empty if none
/// does.
std::vector<Edit> first_repair(const plan::TrainingConfig& s, Why why,
                               const std::vector<Change>& changes) {
  for (const Change& change : changes)
    if (removes_violation(s, change.config(), why)) return change.edits();
  return {};
}

std::string show_product(i64 n) { return n < 0 ? "more than 2^63" : count(n); }

Finding describe_degrees(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  // dp_size is the easiest of the degrees to change.
  return {.detail = fmt::format("{} = {}, but world_size is {}", degrees_text(s.plan),
                                show_product(m.need), count(m.have)),
          .key = "parallelism.dp_size",
          .fix = find_other_degrees(s, Why::degrees)};
}

Finding describe_devices(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  Finding finding{.detail = fmt::format("{} ranks, but {} has {} devices", count(m.need),
                                        s.cluster.name, count(m.have)),
                  .key = "world_size"};
  const Change smaller = Change(s).world(m.have);
  if (removes_violation(s, smaller.config(), Why::devices)) {
    finding.fix = smaller.edits();
    return finding;
  }
  // The degrees have to follow the smaller world without adding violations.
  const std::vector<Edit> degrees = find_other_degrees(
      smaller.config(), Why::degrees,
      [&](const plan::TrainingConfig& after) { return removes_violation(s, after, Why::devices); });
  if (degrees.empty()) return finding;
  finding.fix = smaller.edits();
  finding.fix.insert(finding.fix.end(), degrees.begin(), degrees.end());
  return finding;
}

/// Returns the ep nearest to the current one that removes `why`; ep 1 always does.
std::vector<Edit> other_experts(const plan::TrainingConfig& s, Why why) {
  i64 experts = 1;
  for (const model::LayerRun& run : s.model.runs)
    experts = std::max(experts, run.layer.ffn.experts);
  std::vector<i64> degrees = list_divisors(experts);
  std::stable_sort(degrees.begin(), degrees.end(),
                   [&](i64 a, i64 b) { return std::abs(a - s.plan.ep) < std::abs(b - s.plan.ep); });
  std::vector<Change> changes;
  for (const i64 ep : degrees)
    for (const i64 etp : {s.plan.etp, i64{1}}) changes.push_back(Change(s).experts(ep, etp));
  return first_repair(s, why, changes);
}

Finding describe_expert_ranks(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {
      .detail = fmt::format("ETP {} x EP {} x PP {} = {} does not divide the {} ranks", s.plan.etp,
                            s.plan.ep, s.plan.pp, show_product(m.need), count(m.have)),
      .key = "parallelism.ep_size",
      .fix = other_experts(s, Why::expert_ranks)};
}

Finding describe_pipelines_differ(const plan::TrainingConfig& s,
                                  const plan::ConstraintViolation& m) {
  return {.detail = fmt::format("order {}: adjacent pipeline stages are {} ranks apart in dense "
                                "layers, but {} in expert layers",
                                show(s.plan.order), count(m.have), count(m.need)),
          .key = "parallelism.order",
          .fix = first_repair(s, Why::pipelines_differ, {Change(s).order(mesh::kDefaultOrder)})};
}

Finding describe_placement(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  const i64 listed = i64(s.plan.placement.devices.size());
  const std::string detail =
      listed != s.world
          ? fmt::format("placement lists {} devices for {} ranks", count(listed), count(s.world))
      : m.need < 0 || m.need >= m.have
          ? fmt::format("device {} does not exist: the cluster has devices 0 to {}", m.need,
                        m.have - 1)
          : fmt::format("device {} is listed twice", m.need);
  return {.detail = detail,
          .key = "placement",
          .fix = first_repair(s, Why::placement, {Change(s).block_placement()})};
}

Finding describe_heads(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {.detail = fmt::format("TP {} does not divide the {} attention heads of {}", m.need,
                                m.have, s.model.name),
          .key = "parallelism.tp_size",
          .fix = find_other_degrees(s, Why::heads)};
}

Finding describe_kv_heads(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {.detail = fmt::format(
              "TP {} is neither a divisor nor a multiple of the {} key-value heads of {}", m.need,
              m.have, s.model.name),
          .key = "parallelism.tp_size",
          .fix = find_other_degrees(s, Why::kv_heads)};
}

Finding describe_ffn(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {.detail = fmt::format("TP {} does not divide the feed-forward width {} of {}", m.need,
                                count(m.have), s.model.name),
          .key = "parallelism.tp_size",
          .fix = find_other_degrees(s, Why::ffn)};
}

Finding describe_expert_ffn(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {.detail = fmt::format("ETP {} does not divide the expert width {} of {}", m.need,
                                count(m.have), s.model.name),
          .key = "parallelism.etp_size",
          .fix = first_repair(s, Why::expert_ffn, {Change(s).experts(s.plan.ep, 1)})};
}

Finding describe_no_experts(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {.detail = fmt::format("EP {}, but {} is a dense model", m.need, s.model.name),
          .key = "parallelism.ep_size",
          .fix = first_repair(s, Why::no_experts, {Change(s).experts(1, s.plan.tp)})};
}

Finding describe_experts(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {.detail = fmt::format("EP {} does not divide the {} experts of {}", m.need, m.have,
                                s.model.name),
          .key = "parallelism.ep_size",
          .fix = other_experts(s, Why::experts)};
}

Finding describe_stages(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  Finding finding{
      .detail = fmt::format("PP {} x {} = {} stages, but {} has {} layers", s.plan.pp,
                            plural(s.plan.virtual_stages, "virtual stage", "virtual stages"),
                            show_product(m.need), s.model.name, m.have),
      .key = "parallelism.pp_size"};
  if (s.plan.virtual_stages > 1)
    finding.fix =
        first_repair(s, Why::stages, {Change(s).chunks(1, pipeline::Schedule::one_f_one_b)});
  if (finding.fix.empty()) finding.fix = find_other_degrees(s, Why::stages);
  return finding;
}

/// Proposes the even split if there is a layer for every stage.
std::vector<Edit> even_layout(const plan::TrainingConfig& s, Why why) {
  const std::optional<i64> stages = product({s.plan.pp, s.plan.virtual_stages});
  if (!stages || *stages > s.model.layers()) return {};
  return first_repair(s, why, {Change(s).even_stages()});
}

Finding describe_stage_count(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {.detail = fmt::format("stages lists {}, but PP {} x {} = {}",
                                plural(m.need, "stage", "stages"), s.plan.pp,
                                plural(s.plan.virtual_stages, "virtual stage", "virtual stages"),
                                show_product(m.have)),
          .key = "parallelism.stages",
          .fix = even_layout(s, Why::stage_count)};
}

Finding describe_stage_layers(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {.detail =
              fmt::format("the stages hold {} layers, but {} has {}", m.need, s.model.name, m.have),
          .key = "parallelism.stages",
          .fix = even_layout(s, Why::stage_layers),
          .notes = {fmt::format("frameworks do not check this: they train a model of {} layers",
                                m.need)}};
}

Finding describe_chunks(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  const std::string_view schedule = name(s.plan.schedule);
  Finding finding{.detail = fmt::format("{} needs {}{} per PP rank, not {}", schedule,
                                        row(s.plan.schedule).max_chunks > m.have ? "at least " : "",
                                        plural(m.have, "virtual stage", "virtual stages"), m.need),
                  .key = "parallelism.schedule"};
  // More chunks than the schedule supports usually mean that interleaving was intended.
  const bool more = m.need > m.have;
  finding.fix = first_repair(s, Why::chunks,
                             {more ? Change(s).chunks(m.need, pipeline::Schedule::interleaved)
                                   : Change(s).chunks(m.have, s.plan.schedule),
                              Change(s).chunks(1, pipeline::Schedule::one_f_one_b)});
  return finding;
}

/// Returns the smallest supported number of microbatches that is at least `microbatches`.
i64 enough_microbatches(const plan::TrainingConfig& s, i64 microbatches) {
  const pipeline::ScheduleRow& schedule = row(s.plan.schedule);
  return round_up(std::max(microbatches, schedule.rounds * s.plan.pp), schedule.multiple);
}

Finding describe_pp_multiple(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  Finding finding{
      .detail = fmt::format(
          "{} puts each stage on PP ranks r and PP - 1 - r, so PP must be a multiple of {}, not {}",
          name(s.plan.schedule), m.have, m.need),
      .key = "parallelism.pp_size",
      .fix = find_other_degrees(s, Why::pp_multiple)};
  if (finding.fix.empty())
    finding.fix =
        first_repair(s, Why::pp_multiple, {Change(s).chunks(1, pipeline::Schedule::one_f_one_b)});
  return finding;
}

/// Proposes a larger batch, otherwise 1F1B, which accepts any number of microbatches.
std::vector<Edit> other_microbatches(const plan::TrainingConfig& s, Why why) {
  return first_repair(s, why,
                      {Change(s).microbatches(enough_microbatches(s, s.microbatches())),
                       Change(s).chunks(1, pipeline::Schedule::one_f_one_b)});
}

Finding describe_microbatch_multiple(const plan::TrainingConfig& s,
                                     const plan::ConstraintViolation& m) {
  return {.detail = fmt::format("{} sends half of the micro-batches from each end, so their number "
                                "must be a multiple of {}, not {}",
                                name(s.plan.schedule), m.have, count(m.need)),
          .key = "job.global_batch",
          .fix = other_microbatches(s, Why::microbatch_multiple)};
}

Finding describe_microbatches(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {.detail =
              fmt::format("{} with PP {} needs at least {}, not {}", name(s.plan.schedule),
                          s.plan.pp, plural(m.have, "micro-batch", "micro-batches"), count(m.need)),
          .key = "job.global_batch",
          .fix = other_microbatches(s, Why::microbatches)};
}

Finding describe_group(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {.detail = fmt::format(
              "micro-batch groups of {} are smaller than PP {}: {} needs groups of at least {}",
              count(m.need), s.plan.pp, name(s.plan.schedule), count(m.have)),
          .key = "parallelism.microbatch_group",
          .fix = first_repair(s, Why::group, {Change(s).microbatch_group(s.plan.pp)})};
}

/// Proposes the next larger batch that `at_once` sequences divide, with a number of microbatches
/// and a group size that the schedule supports.
std::vector<Edit> larger_batch(const plan::TrainingConfig& s, i64 at_once) {
  const i64 microbatches = ceil_div(s.job.global_batch, at_once);
  return first_repair(s, Why::batch,
                      {Change(s).microbatches(microbatches),
                       Change(s).microbatches(enough_microbatches(s, microbatches)),
                       Change(s).microbatches(microbatches).microbatch_group(s.plan.pp)});
}

Finding describe_batch(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  Finding finding{
      .detail = fmt::format("micro_batch {} x DP {} = {} does not divide the global batch of {}",
                            s.plan.micro_batch, s.plan.dp, show_product(m.need), count(m.have)),
      .key = "job.global_batch"};
  if (m.need > 0) finding.fix = larger_batch(s, m.need);
  return finding;
}

Finding describe_sequence_cp(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  Finding finding{.detail = fmt::format("2 x CP = {} does not divide the sequence of {} tokens",
                                        show_product(m.need), count(m.have)),
                  .key = "parallelism.cp_size"};
  if (m.need > 0)
    finding.fix = first_repair(s, Why::sequence_cp, {Change(s).sequence(round_up(m.have, m.need))});
  return finding;
}

Finding describe_sequence_tp(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  Finding finding{
      .detail = fmt::format(
          "TP {} and CP {} split the sequence into {} equal parts, which does not divide {} tokens",
          s.plan.tp, s.plan.cp, show_product(m.need), count(m.have)),
      .key = "job.sequence"};
  if (m.need > 0)
    finding.fix = first_repair(s, Why::sequence_tp, {Change(s).sequence(round_up(m.have, m.need))});
  return finding;
}

Finding describe_ulysses(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {.detail = fmt::format("CP {} does not divide the {} attention heads per TP rank (TP {})",
                                m.need, m.have, s.plan.tp),
          .key = "parallelism.cp_size",
          .fix = first_repair(s, Why::ulysses, {Change(s).cp_comm(plan::CpComm::p2p)})};
}

Finding describe_shard(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  Finding finding{.detail = fmt::format(
                      "shard_size {} does not divide the {} data-parallel ranks (DP {} x CP {})",
                      m.need, m.have, s.plan.dp, s.plan.cp),
                  .key = "parallelism.shard_size"};
  if (s.plan.data_ranks() > cluster::kMaxDevices) return finding;
  std::vector<i64> sizes = list_divisors(s.plan.data_ranks());
  std::stable_sort(sizes.begin(), sizes.end(),
                   [&](i64 a, i64 b) { return std::abs(a - m.need) < std::abs(b - m.need); });
  std::vector<Change> changes;
  for (const i64 size : sizes) changes.push_back(Change(s).shard_size(size));
  finding.fix = first_repair(s, Why::shard, changes);
  return finding;
}

Finding describe_buckets(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {
      .detail = fmt::format("buckets of {} elements split the gradients into more than {} buckets",
                            count(m.need), count(plan::kMaxBuckets)),
      .key = "parallelism.bucket_size",
      .fix = first_repair(s, Why::buckets, {Change(s).bucket_size(m.have)})};
}

constexpr Rule::When kAlways = Rule::When::always;

constexpr Rule kRules[] = {
    {{"RW0101", Severity::error, "more ranks than devices",
      "Every rank is one process on one GPU. A plan for more ranks than the cluster has devices "
      "cannot start.",
      "Lower world_size and the degrees, or set `cluster` to the one you have: `cluster: dgx-h100 "
      "x 16`.",
      "",
      "world_size: 128\n"
      "cluster: dgx-h100 x 8\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 4}\n"},
     Target::any,
     kAlways,
     check_violation<Why::devices, describe_devices>},
    {{"RW0102", Severity::error, "degrees do not multiply to the world size",
      "Each rank has one coordinate on each axis, so TP x CP x PP x DP must equal the number of "
      "ranks. Expert parallelism is not a factor: it reuses the same ranks.",
      "Remove dp_size: it is then world_size / (TP x CP x PP). Otherwise change a degree.",
      "Megatron-LM derives DP as world / (TP x PP x CP) and refuses a remainder",
      "world_size: 64\n"
      "node_shape: 8_nodes_x_8_gpus\n"
      "parallelism:\n"
      "  tp_size: 8\n"
      "  pp_size: 4\n"
      "  dp_size: 3\n"},
     Target::any,
     kAlways,
     check_violation<Why::degrees, describe_degrees>},
    {{"RW0103", Severity::error, "expert degrees do not divide the world size",
      "Expert layers arrange the same ranks in their own mesh: ETP x EP x EDP x PP. EDP is the "
      "quotient, so it must be a whole number.",
      "Set ep_size so that ETP x EP x PP divides world_size.",
      "Megatron-LM core/parallel_state.py, initialize_model_parallel",
      "world_size: 64\n"
      "model: mixtral-8x7b\n"
      "parallelism: {tp_size: 2, pp_size: 16, dp_size: 2, ep_size: 8, etp_size: 1}\n"},
     Target::any,
     kAlways,
     check_violation<Why::expert_ranks, describe_expert_ranks>},
    {{"RW0104", Severity::error, "tensor parallelism does not divide the attention heads",
      "Each TP rank computes whole attention heads, so TP must divide their number.",
      "Set tp_size to a divisor of the number of attention heads.",
      "Megatron-LM core/transformer/transformer_config.py",
      "world_size: 64\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 64, dp_size: 1}\n"},
     Target::any,
     kAlways,
     check_violation<Why::heads, describe_heads>},
    {{"RW0105", Severity::error, "tensor parallelism does not match the key-value heads",
      "With grouped-query attention, each TP rank holds whole key-value heads, or several TP ranks "
      "hold copies of one. Both need TP to be a divisor or a multiple of the number of key-value "
      "heads.",
      "Set tp_size to a divisor or a multiple of the number of key-value heads.",
      "Megatron-LM core/transformer/transformer_config.py",
      "world_size: 24\n"
      "model: {architecture: llama, hidden: 6144, layers: 24, heads: 48, kv_heads: 8, ffn: 12288, "
      "vocab: 32000}\n"
      "parallelism: {tp_size: 12, dp_size: 2}\n"
      "job: {sequence: 3072}\n"},
     Target::any,
     kAlways,
     check_violation<Why::kv_heads, describe_kv_heads>},
    {{"RW0106", Severity::error, "tensor parallelism does not divide the feed-forward width",
      "TP splits the feed-forward matrices along the intermediate dimension, so it must divide "
      "that size.",
      "Set tp_size to a divisor of the intermediate size (in a MoE layer, that of the shared "
      "expert).",
      "Megatron-LM core/tensor_parallel/layers.py",
      "world_size: 16\n"
      "model: {architecture: llama, hidden: 4096, layers: 24, heads: 32, kv_heads: 32, ffn: 11000, "
      "vocab: 32000}\n"
      "parallelism: {tp_size: 16, dp_size: 1}\n"},
     Target::any,
     kAlways,
     check_violation<Why::ffn, describe_ffn>},
    {{"RW0107", Severity::error, "expert tensor parallelism does not divide the expert width",
      "ETP splits the matrices of each expert along the intermediate dimension, so it must divide "
      "that size.",
      "Set etp_size: 1 and use ep_size instead: experts are usually too small to split.", "",
      "world_size: 16\n"
      "model: {architecture: mixtral, hidden: 1024, layers: 8, heads: 16, kv_heads: 16, "
      "expert_ffn: 700, vocab: 32000, experts: 8, active_experts: 2}\n"
      "parallelism: {tp_size: 8, dp_size: 2, ep_size: 2, etp_size: 8}\n"},
     Target::any,
     kAlways,
     check_violation<Why::expert_ffn, describe_expert_ffn>},
    {{"RW0108", Severity::error, "expert parallelism on a model without experts",
      "Expert parallelism distributes the experts of MoE layers. A dense model has no experts.",
      "Set ep_size: 1, or set `model` to a MoE model.",
      "Megatron-LM training/arguments.py, validate_args",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, dp_size: 8, ep_size: 8, zero_stage: 1}\n"},
     Target::any,
     kAlways,
     check_violation<Why::no_experts, describe_no_experts>},
    {{"RW0109", Severity::error, "expert parallelism does not divide the experts",
      "Each EP rank holds the same number of whole experts.",
      "Set ep_size to a divisor of the number of experts.",
      "Megatron-LM training/arguments.py, validate_args",
      "world_size: 48\n"
      "model: qwen3-30b-a3b\n"
      "parallelism: {tp_size: 1, dp_size: 48, ep_size: 48, zero_stage: 1}\n"
      "job: {sequence: 4096}\n"},
     Target::any,
     kAlways,
     check_violation<Why::experts, describe_experts>},
    {{"RW0110", Severity::error,
      "the global batch does not divide evenly over the data-parallel ranks",
      "Every data-parallel rank runs the same number of micro-batches: global_batch = micro_batch "
      "x DP x micro-batches.",
      "Set global_batch to a multiple of micro_batch x DP, or lower micro_batch.",
      "Megatron-LM core/num_microbatches_calculator.py; DeepSpeed asserts the same of "
      "train_batch_size",
      "world_size: 64\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, micro_batch: 4}\n"
      "job: {global_batch: 100}\n"},
     Target::any,
     kAlways,
     check_violation<Why::batch, describe_batch>},
    {{"RW0111", Severity::error, "more pipeline stages than layers",
      "Each stage needs at least one layer.",
      "Lower pp_size or virtual_stages. To give the loss a stage of its own, list it in `stages`.",
      "",
      "world_size: 64\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 1, pp_size: 32, dp_size: 2}\n"},
     Target::any,
     kAlways,
     check_violation<Why::stages, describe_stages>},
    {{"RW0112", Severity::error, "the number of stages is not PP x virtual_stages",
      "Stage i runs on PP rank i mod PP, as virtual stage i div PP. There are PP x virtual_stages "
      "stages in total.",
      "List PP x virtual_stages stages, or remove `stages` for an even split.",
      "Megatron-LM training/arguments.py, on --pipeline-model-parallel-layout",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 1, pp_size: 4, dp_size: 2, stages: [5, 6, 5]}\n"},
     Target::any,
     kAlways,
     check_violation<Why::stage_count, describe_stage_count>},
    {{"RW0113", Severity::error, "the stages do not add up to the model's layers",
      "Frameworks build what `stages` lists and do not check the total. Published reports: 64 "
      "layers trained instead of 80, and 28 instead of 30, without a warning.",
      "Change `stages` so that its layers add up to the model's, or remove it for an even split.",
      "Megatron-LM issues 468 and 1304",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 1, pp_size: 4, dp_size: 2, stages: [3, 4, 4, 3]}\n"},
     Target::any,
     kAlways,
     check_violation<Why::stage_layers, describe_stage_layers>},
    {{"RW0114", Severity::error, "context parallelism does not divide the sequence",
      "Under causal attention, late tokens cost more than early ones. To balance the work, each CP "
      "rank takes one piece from the front and one from the back of the sequence: 2 x CP pieces.",
      "Set `sequence` to a multiple of 2 x CP, or lower cp_size.",
      "Megatron-LM training/arguments.py, validate_args",
      "world_size: 16\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 1, cp_size: 8, dp_size: 2}\n"
      "job: {sequence: 8200}\n"},
     Target::any,
     kAlways,
     check_violation<Why::sequence_cp, describe_sequence_cp>},
    {{"RW0115", Severity::error, "sequence parallelism does not divide the sequence",
      "Outside the matmuls, each TP rank holds an equal part of the sequence. With context "
      "parallelism, the sequence must be a multiple of CP x lcm(2, TP).",
      "Set `sequence` to such a multiple, lower tp_size, or set sequence_parallel: false.", "",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 8, dp_size: 2, sequence_parallel: true}\n"
      "job: {sequence: 4100}\n"},
     Target::any,
     kAlways,
     check_violation<Why::sequence_tp, describe_sequence_tp>},
    {{"RW0116", Severity::error, "all-to-all context parallelism does not divide the heads",
      "Around attention, Ulysses exchanges sequence shards for head shards. Each CP rank needs "
      "whole heads, taken from those of its TP rank.",
      "Set cp_comm: p2p, or lower cp_size.",
      "TransformerEngine's attention with a2a; DeepSpeed-Ulysses",
      "world_size: 64\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 8, cp_size: 8, dp_size: 1, cp_comm: a2a}\n"
      "job: {sequence: 8192}\n"},
     Target::any,
     kAlways,
     check_violation<Why::ulysses, describe_ulysses>},
    {{"RW0117", Severity::error, "the shard size does not divide the data-parallel ranks",
      "Hybrid sharding forms groups of shard_size adjacent data-parallel ranks (DP x CP). Each "
      "group holds one full copy.",
      "Set shard_size to a divisor of DP x CP.",
      "Megatron-LM core/parallel_state.py, on --num-distributed-optimizer-instances",
      "world_size: 64\n"
      "parallelism: {tp_size: 4, dp_size: 16, zero_stage: 3, shard_size: 6}\n"},
     Target::any,
     kAlways,
     check_violation<Why::shard, describe_shard>},
    {{"RW0118", Severity::error, "dense and expert layers have different pipelines",
      "Dense and expert layers share the same ranks, and a pipeline must have the same ranks in "
      "both. If PP comes before DP in the order, that requires TP x CP = ETP x EP.",
      "Put PP last: order: tp-cp-ep-dp-pp.",
      "Megatron-LM core/parallel_state.py requires equal data-parallel sizes in this case",
      "world_size: 32\n"
      "model: mixtral-8x7b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 4, ep_size: 4, etp_size: 1, order: "
      "tp-cp-ep-pp-dp}\n"},
     Target::any,
     kAlways,
     check_violation<Why::pipelines_differ, describe_pipelines_differ>},
    {{"RW0119", Severity::error, "the placement does not give each rank its own device",
      "A placement list gives each rank one device, or each host of ranks one host of the cluster. "
      "No entry may appear twice. Devices that are not listed stay idle.",
      "List each device at most once, or set placement: block.", "",
      "world_size: 4\n"
      "node_shape: 1_nodes_x_4_gpus\n"
      "parallelism: {tp_size: 2, dp_size: 2}\n"
      "placement: {ranks: [0, 1, 1, 3]}\n"},
     Target::any,
     kAlways,
     check_violation<Why::placement, describe_placement>},
    {{"RW0120", Severity::error, "the schedule does not support this number of virtual stages",
      "Interleaved schedules need at least two virtual stages per PP rank, V-shaped ones exactly "
      "two, and all others one.",
      "Change virtual_stages, or the schedule: schedule: interleaved-1f1b takes two or more.", "",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, virtual_stages: 2, schedule: 1f1b}\n"},
     Target::any,
     kAlways,
     check_violation<Why::chunks, describe_chunks>},
    {{"RW0121", Severity::error, "micro-batch groups are smaller than the pipeline",
      "An interleaved schedule runs microbatch_group micro-batches through one virtual stage "
      "before the next. If the group is smaller than PP, the next virtual stage needs a "
      "micro-batch that has not yet passed all PP ranks, and the pipeline deadlocks.",
      "Set microbatch_group to pp_size or a multiple of it.",
      "Megatron-LM core/pipeline_parallel/schedules.py, "
      "forward_backward_pipelining_with_interleaving",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, virtual_stages: 2, schedule: "
      "interleaved-1f1b, microbatch_group: 2}\n"
      "job: {global_batch: 16}\n"},
     Target::any,
     kAlways,
     check_violation<Why::group, describe_group>},
    {{"RW0122", Severity::error, "the schedule needs an even number of PP ranks",
      "DualPipe runs the pipeline from both ends at once: PP ranks r and PP - 1 - r hold the same "
      "two stages. If PP is odd, the middle rank has no partner.",
      "Set an even pp_size, or another schedule: schedule: 1f1b.",
      "DeepSeek DualPipe, dualpipe/dualpipe.py, step: num_ranks % 2 == 0",
      "world_size: 24\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 3, dp_size: 4, schedule: dualpipe}\n"},
     Target::any,
     kAlways,
     check_violation<Why::pp_multiple, describe_pp_multiple>},
    {{"RW0123", Severity::error, "the schedule needs an even number of micro-batches",
      "DualPipe sends half of the micro-batches into the pipeline from each end.",
      "Set global_batch so that global_batch / (micro_batch x DP) is even.",
      "DeepSeek DualPipe, dualpipe/dualpipe.py, step: num_chunks % 2 == 0",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, schedule: dualpipe}\n"
      "job: {global_batch: 18}\n"},
     Target::any,
     kAlways,
     check_violation<Why::microbatch_multiple, describe_microbatch_multiple>},
    {{"RW0124", Severity::error, "the schedule needs more micro-batches",
      "DualPipe and DualPipeV overlap the forward pass of one micro-batch with the backward pass "
      "of another. This needs at least 2 x PP micro-batches.",
      "Raise global_batch, lower micro_batch, or lower pp_size.",
      "DeepSeek DualPipe, dualpipe/dualpipe.py and dualpipev.py, step: num_chunks >= num_ranks * "
      "2; "
      "torch/distributed/pipelining/schedules.py, ScheduleDualPipeV",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, virtual_stages: 2, schedule: dualpipe-v}\n"
      "job: {global_batch: 8}\n"},
     Target::any,
     kAlways,
     check_violation<Why::microbatches, describe_microbatches>},
    {{"RW0126", Severity::error, "gradient buckets are too small",
      "Each bucket is one collective per step. More than a million buckets spend the step on "
      "latency.",
      "Raise bucket_size, or remove it to use the default.", "",
      "world_size: 8\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, dp_size: 4, bucket_size: 1000, zero_stage: 1}\n"},
     Target::any,
     kAlways,
     check_violation<Why::buckets, describe_buckets>},
};

}  // namespace
}  // namespace arithmetic_impl

std::span<const Rule> arithmetic_rules() { return arithmetic_impl::kRules; }

}  // namespace rankwright::rules
