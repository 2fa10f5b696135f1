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
  std::string text = fmt::format("tp {}", plan.tp);
  if (plan.cp > 1) text += fmt::format(" x cp {}", plan.cp);
  return text + fmt::format(" x pp {} x dp {}", plan.pp, plan.dp);
}

/// Returns the edits of the first change that removes `why` and adds no violation; empty if none
/// does.
std::vector<Edit> first_repair(const plan::TrainingConfig& s, Why why,
                               const std::vector<Change>& changes) {
  for (const Change& change : changes)
    if (removes_violation(s, change.config(), why)) return change.edits();
  return {};
}

std::string show_product(i64 n) { return n < 0 ? "more than 64 bits hold" : count(n); }

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
      .detail = fmt::format("etp {} x ep {} x pp {} = {} does not divide the {} ranks", s.plan.etp,
                            s.plan.ep, s.plan.pp, show_product(m.need), count(m.have)),
      .key = "parallelism.ep_size",
      .fix = other_experts(s, Why::expert_ranks)};
}

Finding describe_pipelines_differ(const plan::TrainingConfig& s,
                                  const plan::ConstraintViolation& m) {
  return {
      .detail = fmt::format("with order {} pipeline neighbours are {} ranks apart for the dense "
                            "layers and {} for the experts",
                            show(s.plan.order), count(m.have), count(m.need)),
      .key = "parallelism.order",
      .fix = first_repair(s, Why::pipelines_differ, {Change(s).order(mesh::kDefaultOrder)})};
}

Finding describe_placement(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  const i64 listed = i64(s.plan.placement.devices.size());
  const std::string detail =
      listed != s.world ? fmt::format("{} of {} ranks have a device", count(listed), count(s.world))
      : m.need < 0 || m.need >= m.have
          ? fmt::format("device {} is none of 0 to {}", m.need, m.have - 1)
          : fmt::format("device {} is listed twice", m.need);
  return {.detail = detail,
          .key = "placement",
          .fix = first_repair(s, Why::placement, {Change(s).block_placement()})};
}

Finding describe_heads(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {.detail = fmt::format("tp {} does not divide the {} attention heads of {}", m.need,
                                m.have, s.model.name),
          .key = "parallelism.tp_size",
          .fix = find_other_degrees(s, Why::heads)};
}

Finding describe_kv_heads(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {
      .detail = fmt::format("tp {} is neither a divisor nor a multiple of the {} key-value heads "
                            "of {}",
                            m.need, m.have, s.model.name),
      .key = "parallelism.tp_size",
      .fix = find_other_degrees(s, Why::kv_heads)};
}

Finding describe_ffn(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {.detail = fmt::format("tp {} does not divide the feed-forward width {} of {}", m.need,
                                count(m.have), s.model.name),
          .key = "parallelism.tp_size",
          .fix = find_other_degrees(s, Why::ffn)};
}

Finding describe_expert_ffn(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {.detail = fmt::format("etp {} does not divide the expert width {} of {}", m.need,
                                count(m.have), s.model.name),
          .key = "parallelism.etp_size",
          .fix = first_repair(s, Why::expert_ffn, {Change(s).experts(s.plan.ep, 1)})};
}

Finding describe_no_experts(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {.detail = fmt::format("ep {}, but {} is a dense model", m.need, s.model.name),
          .key = "parallelism.ep_size",
          .fix = first_repair(s, Why::no_experts, {Change(s).experts(1, s.plan.tp)})};
}

Finding describe_experts(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {.detail = fmt::format("ep {} does not divide the {} experts of {}", m.need, m.have,
                                s.model.name),
          .key = "parallelism.ep_size",
          .fix = other_experts(s, Why::experts)};
}

Finding describe_stages(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  Finding finding{.detail = fmt::format("pp {} x {} = {} stages, but {} has {} layers", s.plan.pp,
                                        plural(s.plan.virtual_stages, "chunk", "chunks"),
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
  return {.detail = fmt::format(
              "{} are stated, but pp {} x {} = {}", plural(m.need, "stage", "stages"), s.plan.pp,
              plural(s.plan.virtual_stages, "chunk", "chunks"), show_product(m.have)),
          .key = "parallelism.stages",
          .fix = even_layout(s, Why::stage_count)};
}

Finding describe_stage_layers(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {
      .detail =
          fmt::format("the stages hold {} layers, but {} has {}", m.need, s.model.name, m.have),
      .key = "parallelism.stages",
      .fix = even_layout(s, Why::stage_layers),
      .notes = {fmt::format("a framework that trusts the stages trains a model of {} layers and "
                            "says nothing",
                            m.need)}};
}

Finding describe_chunks(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  const std::string_view schedule = name(s.plan.schedule);
  Finding finding{.detail = fmt::format("{} takes {}{} a pp rank, not {}", schedule,
                                        row(s.plan.schedule).max_chunks > m.have ? "at least " : "",
                                        plural(m.have, "chunk", "chunks"), m.need),
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
      .detail = fmt::format("{} lays every stage on two pp ranks, r and pp - 1 - r, and "
                            "pp {} is not a multiple of {}",
                            name(s.plan.schedule), m.need, m.have),
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
  return {.detail = fmt::format("{} sends half of the microbatches through the pipeline from each "
                                "end, and {} is not a multiple of {}",
                                name(s.plan.schedule), count(m.need), m.have),
          .key = "job.global_batch",
          .fix = other_microbatches(s, Why::microbatch_multiple)};
}

Finding describe_microbatches(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {
      .detail = fmt::format("{} on pp {} takes at least {}, not {}", name(s.plan.schedule),
                            s.plan.pp, plural(m.have, "microbatch", "microbatches"), count(m.need)),
      .key = "job.global_batch",
      .fix = other_microbatches(s, Why::microbatches)};
}

Finding describe_group(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {.detail = fmt::format("a group of {} is through a chunk before its first microbatch has "
                                "passed {} pp ranks: {} takes groups of at least {}",
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
      .detail = fmt::format("micro_batch {} x dp {} = {} does not divide the global batch "
                            "of {}",
                            s.plan.micro_batch, s.plan.dp, show_product(m.need), count(m.have)),
      .key = "job.global_batch"};
  if (m.need > 0) finding.fix = larger_batch(s, m.need);
  return finding;
}

Finding describe_sequence_cp(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  Finding finding{.detail = fmt::format("2 x cp = {} does not divide the sequence of {} tokens",
                                        show_product(m.need), count(m.have)),
                  .key = "parallelism.cp_size"};
  if (m.need > 0)
    finding.fix = first_repair(s, Why::sequence_cp, {Change(s).sequence(round_up(m.have, m.need))});
  return finding;
}

Finding describe_sequence_tp(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  Finding finding{.detail = fmt::format(
                      "tp {} and cp {} cut the sequence into {} equal parts, and {} tokens do not "
                      "divide so",
                      s.plan.tp, s.plan.cp, show_product(m.need), count(m.have)),
                  .key = "job.sequence"};
  if (m.need > 0)
    finding.fix = first_repair(s, Why::sequence_tp, {Change(s).sequence(round_up(m.have, m.need))});
  return finding;
}

Finding describe_ulysses(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  return {.detail = fmt::format("cp {} does not divide the {} heads that each of tp {} holds",
                                m.need, m.have, s.plan.tp),
          .key = "parallelism.cp_size",
          .fix = first_repair(s, Why::ulysses, {Change(s).cp_comm(plan::CpComm::p2p)})};
}

Finding describe_shard(const plan::TrainingConfig& s, const plan::ConstraintViolation& m) {
  Finding finding{
      .detail = fmt::format("shard_size {} does not cut the {} data ranks (dp {} x cp {}) "
                            "into equal neighbourhoods",
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
  return {.detail = fmt::format("buckets of {} elements cut the model into more than {}",
                                count(m.need), count(plan::kMaxBuckets)),
          .key = "parallelism.bucket_size",
          .fix = first_repair(s, Why::buckets, {Change(s).bucket_size(m.have)})};
}

constexpr Rule::When kAlways = Rule::When::always;

constexpr Rule kRules[] = {
    {{"RW0101", Severity::error, "there are more ranks than devices",
      "Every rank is one process on one GPU. A plan for more ranks than the cluster has devices "
      "cannot start.",
      "Lower world_size and the degrees, or name the cluster that is meant.", "",
      "world_size: 128\n"
      "cluster: dgx-h100 x 8\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 4}\n"},
     Target::any,
     kAlways,
     check_violation<Why::devices, describe_devices>},
    {{"RW0102", Severity::error, "degrees do not multiply to the world size",
      "Every rank has one coordinate on each axis, so tp x cp x pp x dp is the number of ranks. "
      "Expert parallelism is not a factor: it is carved out of the same ranks.",
      "Leave dp_size out and it takes what the others leave.",
      "Megatron-LM derives dp as world / (tp x pp x cp) and refuses a remainder",
      "world_size: 64\n"
      "node_shape: 8_nodes_x_8_gpus\n"
      "parallelism:\n"
      "  tp_size: 8\n"
      "  pp_size: 4\n"
      "  dp_size: 3\n"},
     Target::any,
     kAlways,
     check_violation<Why::degrees, describe_degrees>},
    {{"RW0103", Severity::error, "the expert degrees do not divide the world size",
      "The expert layers see the same ranks as a mesh of their own, etp x ep x edp x pp, and edp "
      "is "
      "what is left.",
      "Choose ep so that etp x ep x pp divides the ranks.",
      "Megatron-LM core/parallel_state.py, initialize_model_parallel",
      "world_size: 64\n"
      "model: mixtral-8x7b\n"
      "parallelism: {tp_size: 2, pp_size: 16, dp_size: 2, ep_size: 8, etp_size: 1}\n"},
     Target::any,
     kAlways,
     check_violation<Why::expert_ranks, describe_expert_ranks>},
    {{"RW0104", Severity::error, "tensor parallelism does not divide the attention heads",
      "A tp rank computes whole heads. What does not divide cannot be cut.",
      "Use a degree that divides the heads.", "Megatron-LM core/transformer/transformer_config.py",
      "world_size: 64\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 64, dp_size: 1}\n"},
     Target::any,
     kAlways,
     check_violation<Why::heads, describe_heads>},
    {{"RW0105", Severity::error, "tensor parallelism does not go with the key-value heads",
      "With grouped queries each tp rank holds whole key-value heads, or several ranks hold the "
      "same "
      "one. Neither works where the one number does not divide the other.",
      "Use a degree that divides the key-value heads, or a multiple of them.",
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
      "The feed-forward matrices are cut along their wide side.",
      "Use a degree that divides the intermediate size (of the shared expert, in a MoE layer).",
      "Megatron-LM core/tensor_parallel/layers.py",
      "world_size: 16\n"
      "model: {architecture: llama, hidden: 4096, layers: 24, heads: 32, kv_heads: 32, ffn: 11000, "
      "vocab: 32000}\n"
      "parallelism: {tp_size: 16, dp_size: 1}\n"},
     Target::any,
     kAlways,
     check_violation<Why::ffn, describe_ffn>},
    {{"RW0107", Severity::error, "expert tensor parallelism does not divide the expert width",
      "The matrices of one expert are cut along their wide side.",
      "Experts are narrow: leave etp_size at 1 and use ep_size.", "",
      "world_size: 16\n"
      "model: {architecture: mixtral, hidden: 1024, layers: 8, heads: 16, kv_heads: 16, "
      "expert_ffn: 700, vocab: 32000, experts: 8, active_experts: 2}\n"
      "parallelism: {tp_size: 8, dp_size: 2, ep_size: 2, etp_size: 8}\n"},
     Target::any,
     kAlways,
     check_violation<Why::expert_ffn, describe_expert_ffn>},
    {{"RW0108", Severity::error, "expert parallelism on a model without experts",
      "Expert parallelism spreads the experts of MoE layers. A dense model has none.",
      "Set ep_size to 1, or name the MoE model that is meant.",
      "Megatron-LM training/arguments.py, validate_args",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, dp_size: 8, ep_size: 8, zero_stage: 1}\n"},
     Target::any,
     kAlways,
     check_violation<Why::no_experts, describe_no_experts>},
    {{"RW0109", Severity::error, "expert parallelism does not divide the experts",
      "Every rank of an expert group holds the same number of whole experts.",
      "Use a degree that divides the number of experts.",
      "Megatron-LM training/arguments.py, validate_args",
      "world_size: 48\n"
      "model: qwen3-30b-a3b\n"
      "parallelism: {tp_size: 1, dp_size: 48, ep_size: 48, zero_stage: 1}\n"
      "job: {sequence: 4096}\n"},
     Target::any,
     kAlways,
     check_violation<Why::experts, describe_experts>},
    {{"RW0110", Severity::error, "the batch does not divide over the data ranks",
      "Every data rank runs the same number of microbatches: global_batch = micro_batch x dp x "
      "microbatches.",
      "Round the batch up, or change micro_batch.",
      "Megatron-LM core/num_microbatches_calculator.py; DeepSpeed asserts the same of "
      "train_batch_size",
      "world_size: 64\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, micro_batch: 4}\n"
      "job: {global_batch: 100}\n"},
     Target::any,
     kAlways,
     check_violation<Why::batch, describe_batch>},
    {{"RW0111", Severity::error, "there are more stages than layers",
      "A stage without a layer has nothing to compute.",
      "Use fewer pp ranks or chunks. A stage for the loss alone has to be stated in `stages`.", "",
      "world_size: 64\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 1, pp_size: 32, dp_size: 2}\n"},
     Target::any,
     kAlways,
     check_violation<Why::stages, describe_stages>},
    {{"RW0112", Severity::error, "the stated stages are not pp x virtual_stages",
      "Stage i runs on pp rank i mod pp, as its chunk i div pp; so there are pp x virtual_stages "
      "of "
      "them.",
      "State as many stages, or leave the key out for an even split.",
      "Megatron-LM training/arguments.py, on --pipeline-model-parallel-layout",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 1, pp_size: 4, dp_size: 2, stages: [5, 6, 5]}\n"},
     Target::any,
     kAlways,
     check_violation<Why::stage_count, describe_stage_count>},
    {{"RW0113", Severity::error, "the stages do not hold the model's layers",
      "Frameworks build what the stages say. Runs have trained 64 layers where 80 were meant, and "
      "28 "
      "where 30 were, without a word.",
      "Let the layers of all stages add up to the model's.", "Megatron-LM issues 468 and 1304",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 1, pp_size: 4, dp_size: 2, stages: [3, 4, 4, 3]}\n"},
     Target::any,
     kAlways,
     check_violation<Why::stage_layers, describe_stage_layers>},
    {{"RW0114", Severity::error, "context parallelism does not divide the sequence",
      "Causal attention gives early tokens less work than late ones, so each cp rank takes one "
      "piece "
      "from the front and one from the back: 2 x cp pieces.",
      "Pad the sequence, or lower cp_size.", "Megatron-LM training/arguments.py, validate_args",
      "world_size: 16\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 1, cp_size: 8, dp_size: 2}\n"
      "job: {sequence: 8200}\n"},
     Target::any,
     kAlways,
     check_violation<Why::sequence_cp, describe_sequence_cp>},
    {{"RW0115", Severity::error, "sequence parallelism does not divide the sequence",
      "Outside the matmuls every tp rank holds an equal part of the sequence; with context "
      "parallelism, of a cp rank's two pieces together: cp x lcm(2, tp).",
      "Pad the sequence, lower tp_size, or set sequence_parallel: false.", "",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 8, dp_size: 2, sequence_parallel: true}\n"
      "job: {sequence: 4100}\n"},
     Target::any,
     kAlways,
     check_violation<Why::sequence_tp, describe_sequence_tp>},
    {{"RW0116", Severity::error, "all-to-all context parallelism does not divide the heads",
      "Ulysses trades the sequence for heads around attention, so each cp rank needs whole heads "
      "of "
      "those that its tp rank has.",
      "Use cp_comm: p2p, or lower cp_size.",
      "TransformerEngine's attention with a2a; DeepSpeed-Ulysses",
      "world_size: 64\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 8, cp_size: 8, dp_size: 1, cp_comm: a2a}\n"
      "job: {sequence: 8192}\n"},
     Target::any,
     kAlways,
     check_violation<Why::ulysses, describe_ulysses>},
    {{"RW0117", Severity::error, "the shards do not cut the data ranks evenly",
      "Hybrid sharding puts shard_size neighbouring data ranks (dp x cp) into one shard group and "
      "repeats it.",
      "Use a divisor of dp x cp.",
      "Megatron-LM core/parallel_state.py, on --num-distributed-optimizer-instances",
      "world_size: 64\n"
      "parallelism: {tp_size: 4, dp_size: 16, zero_stage: 3, shard_size: 6}\n"},
     Target::any,
     kAlways,
     check_violation<Why::shard, describe_shard>},
    {{"RW0118", Severity::error, "dense and expert layers would have different pipelines",
      "Both meshes number the same ranks, and a pipeline has to consist of the same ranks in both. "
      "With pp innermost of dp that holds only if tp x cp = etp x ep.",
      "Put pp last in the order.",
      "Megatron-LM core/parallel_state.py asks for the same data-parallel size in both then",
      "world_size: 32\n"
      "model: mixtral-8x7b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 4, ep_size: 4, etp_size: 1, order: "
      "tp-cp-ep-pp-dp}\n"},
     Target::any,
     kAlways,
     check_violation<Why::pipelines_differ, describe_pipelines_differ>},
    {{"RW0119", Severity::error, "the placement is not one device for each rank",
      "A listed placement gives every rank a device of its own, or every host of ranks a host: "
      "each "
      "at most once, and one of the cluster's. Those that are not listed stay idle.",
      "List every device once, or use placement: block.", "",
      "world_size: 4\n"
      "node_shape: 1_nodes_x_4_gpus\n"
      "parallelism: {tp_size: 2, dp_size: 2}\n"
      "placement: {ranks: [0, 1, 1, 3]}\n"},
     Target::any,
     kAlways,
     check_violation<Why::placement, describe_placement>},
    {{"RW0120", Severity::error, "the schedule does not take so many chunks",
      "Interleaved schedules need at least two chunks a pp rank, V-shaped ones exactly two, the "
      "plain "
      "ones one.",
      "Change virtual_stages or the schedule.", "",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, virtual_stages: 2, schedule: 1f1b}\n"},
     Target::any,
     kAlways,
     check_violation<Why::chunks, describe_chunks>},
    {{"RW0121", Severity::error, "the groups of microbatches are too small",
      "An interleaved schedule runs microbatch_group microbatches through one chunk before the "
      "next. In a group smaller than pp the first one has not come round all pp ranks when the "
      "next chunk waits for it, and the ranks wait for each other.",
      "Use pp_size, or a multiple of it.",
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
    {{"RW0122", Severity::error, "the schedule takes pp ranks in pairs",
      "DualPipe runs the pipeline from both ends at once: pp ranks r and pp - 1 - r hold the same "
      "two stages, so with an odd pp the one in the middle would have no partner.",
      "Use an even pp_size, or another schedule.",
      "DeepSeek DualPipe, dualpipe/dualpipe.py, step: num_ranks % 2 == 0",
      "world_size: 24\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 3, dp_size: 4, schedule: dualpipe}\n"},
     Target::any,
     kAlways,
     check_violation<Why::pp_multiple, describe_pp_multiple>},
    {{"RW0123", Severity::error, "the schedule takes microbatches in pairs",
      "DualPipe sends the first half of the microbatches through the pipeline from one end and the "
      "second half from the other.",
      "Use a batch with an even number of microbatches.",
      "DeepSeek DualPipe, dualpipe/dualpipe.py, step: num_chunks % 2 == 0",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, schedule: dualpipe}\n"
      "job: {global_batch: 18}\n"},
     Target::any,
     kAlways,
     check_violation<Why::microbatch_multiple, describe_microbatch_multiple>},
    {{"RW0124", Severity::error, "the schedule needs more microbatches",
      "DualPipe and DualPipeV overlap the forward of one microbatch with the backward of another "
      "that comes the other way. Their order of work has room for that only with 2 x pp "
      "microbatches and more.",
      "Use a larger global_batch, smaller microbatches or fewer pp ranks.",
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
      "Every bucket is a collective of its own, in every step. A model of which there would be "
      "more than a million spends its time on their latency.",
      "Use a larger bucket_size, or leave it out.", "",
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
