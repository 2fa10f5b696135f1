#include "rankwright/import/plan/plan_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/import/cluster/cluster_file.h"
#include "rankwright/import/plan/model_file.h"
#include "rankwright/import/syntax/lines.h"
#include "rankwright/model/architecture.h"
#include "rankwright/rules/target.h"

namespace rankwright::importer {
namespace {

/// Reads a whole number from 1 to `max` into `member`.
template <std::optional<i64> Draft::*member, i64 max>
void read_whole(Reading& r, const YamlNode& node) {
  r.draft.*member = r.fields.whole(node, 1, max);
}

/// Reads the images or clips of audio of a sequence, which a model has one kind of.
void read_images(Reading& r, const YamlNode& node) {
  if (r.draft.images)
    return r.fields.report(node, {.code = "RW0905",
                                  .message = "duplicate key",
                                  .detail = "job.images and job.clips state the same number",
                                  .hint = "keep the one that the encoder reads"});
  r.draft.images = r.fields.whole(node, 1, plan::kMaxImages);
}

template <std::optional<bool> Draft::*member>
void read_flag(Reading& r, const YamlNode& node) {
  r.draft.*member = r.fields.flag(node);
}

/// Reads a factor from `min_percent` to 100 times the mean.
template <std::optional<double> Draft::*member, int min_percent>
void read_factor(Reading& r, const YamlNode& node) {
  constexpr double kPercent = 0.01, kMax = 100;
  r.draft.*member = r.fields.number(node, kPercent * min_percent, kMax);
}

/// Returns the names in a table of rows, for one_of().
template <class Rows>
std::vector<std::string_view> names_of_rows(const Rows& rows) {
  std::vector<std::string_view> all;
  for (const auto& one : rows) all.push_back(one.name);
  return all;
}

void ignore_value(Reading&, const YamlNode&) {}

/// Returns the text before the plural or singular ending: "8" for "8_nodes" and "8_node".
std::optional<std::string> strip_ending(std::string_view text, std::string_view plural) {
  for (const std::string_view ending : {plural, plural.substr(0, plural.size() - 1)})
    if (text.size() > ending.size() && text.ends_with(ending))
      return std::string(text.substr(0, text.size() - ending.size()));
  return std::nullopt;
}

/// Reads "8_nodes_x_8_gpus".
void read_node_shape(Reading& r, const YamlNode& node) {
  const std::optional<std::string> text = r.fields.text(node);
  if (!text) return;
  constexpr std::string_view kTimes = "_x_";
  const std::string_view stated = *text;
  const std::size_t times = std::min(stated.find(kTimes), stated.size());
  const std::size_t behind = std::min(times + kTimes.size(), stated.size());
  const std::optional<std::string> nodes = strip_ending(stated.substr(0, times), "_nodes");
  const std::optional<std::string> gpus = strip_ending(stated.substr(behind), "_gpus");
  if (!nodes || !gpus) {
    r.fields.report(node, {.code = "RW0911",
                           .message = "invalid node shape",
                           .detail = fmt::format("'{}' is not of the form N_nodes_x_M_gpus",
                                                 make_excerpt(*text)),
                           .hint = "for example node_shape: 8_nodes_x_8_gpus"});
    return;
  }
  YamlNode part = node;
  part.scalar = *nodes;
  const std::optional<i64> n = r.fields.whole(part, 1, kMaxDegree);
  part.scalar = *gpus;
  const std::optional<i64> m = r.fields.whole(part, 1, 4096);
  if (!n || !m) return;
  if (*n * *m > cluster::kMaxDevices) {
    r.fields.report(node, {.code = "RW0904",
                           .message = "number out of range",
                           .detail = fmt::format("{} GPUs exceed the limit of {}", count(*n * *m),
                                                 count(cluster::kMaxDevices))});
    return;
  }
  r.draft.shape = NodeShape{*n, *m};
}

void read_order(Reading& r, const YamlNode& node) {
  const std::optional<std::string> text = r.fields.text(node);
  if (!text) return;
  r.draft.order = mesh::parse_order(*text);
  if (r.draft.order) return;
  r.fields.report(
      node, {.code = "RW0907",
             .message = "unknown value",
             .detail = fmt::format("'{}' must name each of tp, cp, ep, dp, pp at most once",
                                   make_excerpt(*text)),
             .hint = "for example order: tp-cp-ep-dp-pp (the leftmost axis has adjacent ranks)"});
}

void read_zero_stage(Reading& r, const YamlNode& node) {
  constexpr std::array<std::string_view, 4> kStages{"0", "1", "2", "3"};
  if (const std::optional<std::size_t> stage = r.fields.one_of(node, kStages))
    r.draft.zero = int(*stage);
}

void read_schedule(Reading& r, const YamlNode& node) {
  if (const std::optional<std::size_t> index =
          r.fields.one_of(node, names_of_rows(pipeline::schedules())))
    r.draft.schedule = pipeline::schedules()[*index].schedule;
}

void read_cp_comm(Reading& r, const YamlNode& node) {
  if (const std::optional<std::size_t> index = r.fields.one_of(node, plan::cp_comm_names()))
    r.draft.cp_comm = plan::CpComm(*index);
}

void read_dispatcher(Reading& r, const YamlNode& node) {
  if (const std::optional<std::size_t> index = r.fields.one_of(node, plan::dispatcher_names()))
    r.draft.dispatcher = plan::Dispatcher(*index);
}

/// Reads a list of whole numbers from `min` to `max`.
std::optional<std::vector<i64>> read_counts(Reading& r, const YamlNode& node, i64 min, i64 max) {
  if (!r.fields.expect(node, YamlNode::Kind::sequence, "a list of whole numbers"))
    return std::nullopt;
  std::vector<i64> all;
  for (const YamlNode& item : node.items) {
    const std::optional<i64> n = r.fields.whole(item, min, max);
    if (!n) return std::nullopt;
    all.push_back(*n);
  }
  return all;
}

void read_stages(Reading& r, const YamlNode& node) {
  if (node.kind != YamlNode::Kind::sequence) {
    if (const std::optional<std::string> text = r.fields.text(node))
      r.draft.stages = r.fields.take(node, plan::parse_layout(*text));
    return;
  }
  const std::optional<std::vector<i64>> layers = read_counts(r, node, 0, plan::kMaxStages);
  if (layers && !layers->empty()) {
    r.draft.stage_layers = layers;
  } else if (layers) {
    r.fields.report(node, {.code = "RW0904",
                           .message = "number out of range",
                           .detail = "empty list of stages",
                           .hint = "for example stages: [7, 8, 8, 7], or remove the key"});
  }
}

/// Reads a list of the parts of a layer that are recomputed.
std::optional<plan::RecomputeModules> read_modules(Reading& r, const YamlNode& node) {
  if (!r.fields.expect(node, YamlNode::Kind::sequence, "a list of modules")) return std::nullopt;
  const std::span<const plan::RecomputeModuleRow> rows = plan::recompute_modules();
  plan::RecomputeModules modules{.core_attn = false};
  for (const YamlNode& item : node.items) {
    const std::optional<std::size_t> index = r.fields.one_of(item, names_of_rows(rows));
    if (!index) return std::nullopt;
    modules.*rows[*index].field = true;
  }
  if (node.items.empty()) {
    r.fields.report(node, {.code = "RW0907",
                           .message = "unknown value",
                           .detail = "empty list of modules",
                           .hint = "for example {modules: [moe_act]}, or recompute: none"});
    return std::nullopt;
  }
  return modules;
}

/// Reads none | selective | full, {full: 4} for 4 layers per pp rank, or {modules: [moe_act]}.
void read_recompute(Reading& r, const YamlNode& node) {
  const bool partly = node.kind == YamlNode::Kind::map;
  if (!partly) {
    if (const std::optional<std::size_t> index = r.fields.one_of(node, plan::recompute_names()))
      r.draft.recompute = plan::Recompute(*index);
    return;
  }
  r.fields.each(node, {"full", "modules"}, [&](std::size_t key, const YamlNode& value) {
    if (key == 0) {
      r.draft.recompute = plan::Recompute::full;
      r.draft.recompute_layers = r.fields.whole(value, 1, plan::kMaxStages);
    } else {
      r.draft.recompute = plan::Recompute::selective;
      r.draft.recompute_modules = read_modules(r, value);
    }
  });
}

void read_placement(Reading& r, const YamlNode& node) {
  if (node.kind == YamlNode::Kind::map) {
    r.fields.each(node, {"ranks", "hosts"}, [&](std::size_t key, const YamlNode& list) {
      (key == 0 ? r.draft.rank_devices : r.draft.host_order) = read_counts(r, list, 0, kMaxDegree);
    });
    return;
  }
  constexpr std::array<std::string_view, 2> kKinds{"block", "cyclic"};
  if (const std::optional<std::size_t> kind = r.fields.one_of(node, kKinds))
    r.draft.placement = mesh::Placement::Kind(*kind);
}

/// Prefixes the keys of findings from index `first` on that are in another file with the key that
/// names the file.
void mark_findings_of_named_file(Reading& r, std::size_t first, std::string_view key) {
  for (std::size_t k = first; k < r.fields.findings().size(); ++k) {
    Diagnostic& found = r.fields.findings()[k];
    if (found.where.file.empty() || found.where.file == r.fields.file()) continue;
    found.key = std::string(key) + (found.key.empty() ? "" : "." + found.key);
  }
}

void read_model_key(Reading& r, const YamlNode& node) {
  const std::size_t first = r.fields.findings().size();
  r.draft.model = read_model(r.fields, node, r.files);
  mark_findings_of_named_file(r, first, "model");
}

void read_cluster_key(Reading& r, const YamlNode& node) {
  const std::size_t first = r.fields.findings().size();
  r.draft.cluster = read_cluster(r.fields, node, r.files);
  mark_findings_of_named_file(r, first, "cluster");
}

/// Reads one of the first `count` formats.
template <std::optional<plan::Dtype> Draft::*member, std::size_t count = 5>
void read_dtype(Reading& r, const YamlNode& node) {
  const std::span<const plan::DtypeRow> rows = plan::dtypes().first(count);
  if (const std::optional<std::size_t> index = r.fields.one_of(node, names_of_rows(rows)))
    r.draft.*member = rows[*index].dtype;
}

void read_optimizer(Reading& r, const YamlNode& node) {
  std::vector<std::string_view> names = names_of_rows(plan::optimizers());
  names.push_back("adamw");  // keeps the states of adam
  const std::optional<std::size_t> index = r.fields.one_of(node, names);
  if (!index) return;
  r.draft.optimizer = *index < plan::optimizers().size() ? plan::optimizers()[*index].optimizer
                                                         : plan::Optimizer::adam;
}

/// Reads the length of documents: one, or several with the fraction of the documents that have it.
/// A token attends within its document, so the mean over tokens counts: that of the squares over
/// that of the lengths (F7).
void read_documents(Reading& r, const YamlNode& node) {
  constexpr std::size_t kMaxLengths = 256;
  constexpr double kMinFraction = 1e-9, kMaxFraction = 1e9;
  if (node.scalar.find(':') == std::string::npos) {
    r.draft.doc_length = r.fields.whole(node, 1, kMaxSequence);
    return;
  }
  const std::vector<std::string_view> parts = split_at_commas(node.scalar);
  if (parts.size() > kMaxLengths) {
    r.fields.report(node,
                    {.code = "RW0904",
                     .message = "number out of range",
                     .detail = fmt::format("{} lengths of documents: at most {} are supported",
                                           parts.size(), kMaxLengths)});
    return;
  }
  double tokens = 0, squares = 0;
  for (const std::string_view part : parts) {
    const std::size_t colon = std::min(part.find(':'), part.size());
    YamlNode length = node, fraction = node;
    length.scalar = part.substr(0, colon);
    fraction.scalar = part.substr(std::min(colon + 1, part.size()));
    const std::optional<i64> each = r.fields.whole(length, 1, kMaxSequence);
    const std::optional<double> share = r.fields.number(fraction, kMinFraction, kMaxFraction);
    if (!each || !share) return;
    tokens += *share * double(*each);
    squares += *share * double(*each) * double(*each);
  }
  r.draft.doc_length = std::llround(squares / tokens);
}

void read_method(Reading& r, const YamlNode& node) {
  if (const std::optional<std::size_t> index =
          r.fields.one_of(node, names_of_rows(plan::methods())))
    r.draft.method = plan::methods()[*index].method;
}

void read_framework(Reading& r, const YamlNode& node) {
  if (const std::optional<std::size_t> index =
          r.fields.one_of(node, names_of_rows(plan::frameworks())))
    r.draft.framework = plan::frameworks()[*index];
}

void read_release(Reading& r, const YamlNode& node) {
  if (const std::optional<std::size_t> index = r.fields.one_of(node, plan::release_names()))
    r.draft.release = plan::release_names()[*index];
}

void read_target(Reading& r, const YamlNode& node) {
  std::vector<std::string_view> names{"any"};
  for (const rules::TargetRow& row : rules::targets()) names.push_back(row.name);
  if (const std::optional<std::size_t> index = r.fields.one_of(node, names))
    r.draft.target = *index == 0 ? rules::Target::any : rules::targets()[*index - 1].target;
}

/// Reads a fraction from 0 to 1; true is all of it.
template <std::optional<double> Draft::*member>
void read_fraction(Reading& r, const YamlNode& node) {
  const bool yes = node.scalar == "true" || node.scalar == "yes";
  const bool no = node.scalar == "false" || node.scalar == "no";
  r.draft.*member = yes ? 1 : no ? std::optional<double>(0) : r.fields.number(node, 0, 1);
}

/// Reads all or a list of linear layers.
void read_lora_modules(Reading& r, const YamlNode& node) {
  const std::span<const plan::LoraModuleRow> rows = plan::lora_modules();
  plan::LoraModules modules = plan::kNoLoraModules;
  std::vector<YamlNode> items = node.items;
  if (node.kind == YamlNode::Kind::scalar)  // "q_proj,v_proj", as an option states it
    for (const std::string_view name : split_at_commas(node.scalar)) {
      items.push_back(node);
      items.back().scalar = std::string(name);
    }
  else if (!r.fields.expect(node, YamlNode::Kind::sequence, "all, or a list of linear layers"))
    return;
  for (const YamlNode& item : items) {
    std::vector<std::string_view> names = names_of_rows(rows);
    if (node.kind == YamlNode::Kind::scalar) names.push_back("all");
    const std::optional<std::size_t> index = r.fields.one_of(item, names);
    if (!index) return;
    if (*index < rows.size())
      modules.*rows[*index].field = true;
    else
      modules = {};
  }
  if (modules != plan::kNoLoraModules) {
    r.draft.lora_modules = modules;
    return;
  }
  r.fields.report(node, {.code = "RW0904",
                         .message = "number out of range",
                         .detail = "empty list of linear layers",
                         .hint = "for example lora_modules: [q_proj, v_proj], or remove the key"});
}

/// Reads "layers 0-15" into a range. Returns whether the text is one.
bool read_layer_range(std::string_view text, model::FrozenParts& parts) {
  constexpr std::string_view kLayers = "layers ";
  if (!text.starts_with(kLayers)) return false;
  text.remove_prefix(kLayers.size());
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return false;
  const auto read = [](std::string_view digits, i64& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size() && value >= 0 &&
           value < model::kMaxLayers;
  };
  i64 first = 0, last = 0;
  if (!read(text.substr(0, dash), first) || !read(text.substr(dash + 1), last)) return false;
  if (first > last || parts.first < parts.end) return false;  // one range
  parts.first = first;
  parts.end = last + 1;
  return true;
}

/// Reads the frozen parts: a list of encoder, embedding, one range of layers, and head.
void read_frozen(Reading& r, const YamlNode& node) {
  std::vector<YamlNode> items = node.items;
  if (node.kind == YamlNode::Kind::scalar)  // "embedding,layers 0-15", as an option states it
    for (const std::string_view part : split_at_commas(node.scalar)) {
      items.push_back(node);
      items.back().scalar = std::string(part);
    }
  else if (!r.fields.expect(node, YamlNode::Kind::sequence, "a list of frozen parts"))
    return;
  model::FrozenParts parts;
  for (const YamlNode& item : items) {
    const std::string_view text = item.scalar;
    const bool scalar = item.kind == YamlNode::Kind::scalar;
    if (scalar && text == "encoder") {
      parts.encoder = true;
    } else if (scalar && text == "embedding") {
      parts.embedding = true;
    } else if (scalar && text == "head") {
      parts.head = true;
    } else if (!scalar || (text != "none" && !read_layer_range(text, parts))) {
      r.fields.report(
          item, {.code = "RW0904",
                 .message = "unknown frozen part",
                 .detail = fmt::format("'{}' is not encoder, embedding, head, or one range of "
                                       "layers, which count from 0",
                                       text),
                 .hint = "for example frozen: [embedding, layers 0-15]"});
      return;
    }
  }
  r.draft.frozen = parts;
}

/// Reads one of a list of names into `member`.
template <class Enum, std::optional<Enum> Draft::*member,
          std::span<const std::string_view> (*names_of)()>
void read_named(Reading& r, const YamlNode& node) {
  if (const std::optional<std::size_t> index = r.fields.one_of(node, names_of()))
    r.draft.*member = Enum(*index);
}

constexpr std::string_view kGroups[] = {"parallelism", "parallelism.overlap", "parallelism.offload",
                                        "job", "software"};

constexpr std::string_view kMicrobatches =
    "job: {global_batch: N}, with N = micro-batches x micro_batch x dp_size";
constexpr std::string_view kZero3 = "parallelism: {zero_stage: 3}, which is FSDP";

// Words of frameworks and papers.
constexpr WordHint kHints[] = {
    {"tp", "tp_size", ""},
    {"cp", "cp_size", ""},
    {"pp", "pp_size", ""},
    {"dp", "dp_size", ""},
    {"ep", "ep_size", ""},
    {"vpp", "virtual_stages", ""},
    {"fsdp", "", kZero3},
    {"zero3", "", kZero3},
    {"hsdp", "", "parallelism: {zero_stage: 3, shard_size: N}, where N ranks share one copy"},
    {"ddp", "", "parallelism: {zero_stage: 0}, or remove it"},
    {"distributed_optimizer", "", "parallelism: {zero_stage: 1}"},
    {"use_distributed_optimizer", "", "parallelism: {zero_stage: 1}"},
    {"microbatches", "", kMicrobatches},
    {"num_microbatches", "", kMicrobatches},
    {"gradient_accumulation_steps", "", kMicrobatches},
    {"activation_checkpointing", "", "parallelism: {recompute: full}"},
    {"gradient_checkpointing", "", "parallelism: {recompute: full}"},
    {"flash_attention", "", "software: {attention: flash2}"},
    {"batch_size", "", "job: {global_batch: N}, or parallelism: {micro_batch: N}"},
    {"seq_length", "", "job: {sequence: N}"},
    {"lora_r", "lora_rank", ""},
    {"freeze_trainable_layers", "", "job: {frozen: [embedding, layers 0-15, head]}"},
    {"frozen_layers", "", "job: {frozen: [embedding, layers 0-15]}"},
    {"target_modules", "lora_modules", ""},
    {"load_in_4bit", "", "job: {base_dtype: nf4}"},
    {"offload_optimizer", "", "parallelism: {offload: {optimizer: true}}"},
    {"offload_param", "", "parallelism: {offload: {parameters: true}}"},
    {"nvme_path", "", "parallelism: {offload: {nvme: all, nvme_path: /local_nvme}}"},
    {"gpus", "", "world_size: N, or cluster: dgx-h100 x N"},
    {"precision", "", "job: {param_dtype: bf16}"},
};

/// Stands for the list of schedules in a row of kKeys, filled in by key_rows().
constexpr std::string_view kScheduleNames = "SCHEDULES";

/// Stands for the list of targets.
constexpr std::string_view kTargetNames = "TARGETS";

// One row per key, in the order of the reference manual.
constexpr KeyRow kKeys[] = {
    {{"world_size", "a whole number", "the product of the degrees, or all devices of the cluster",
      "Number of ranks: one process per GPU.", "TP x CP x PP x DP must equal it."},
     read_whole<&Draft::world, kMaxDegree>},
    {{"node_shape", "N_nodes_x_M_gpus", "nodes of 8 GPUs",
      "Number of nodes and GPUs per node: a short form of `cluster` that names no hardware.",
      "Traffic between nodes crosses a link that is several times slower."},
     read_node_shape},
    {{"reading_note", "text", "nothing", "A comment. It has no effect.", ""}, ignore_value},
    {{"name", "text", "nothing", "The name of the plan. It has no effect.", ""}, ignore_value},
    {{"parallelism.tp_size", "a whole number that divides the attention heads", "1",
      "Tensor-parallel size: each layer's matrices are split over this many ranks.",
      "Divides a layer's memory and compute. Adds collectives to every layer, on the critical "
      "path. Keep it inside a node."},
     read_whole<&Draft::tp, kMaxDegree>},
    {{"parallelism.cp_size", "a whole number; 2 x CP divides the sequence", "1",
      "Context-parallel size: each sequence is split over this many ranks.",
      "Divides the activations of long sequences. Exchanges keys and values in every layer."},
     read_whole<&Draft::cp, kMaxContext>},
    {{"parallelism.pp_size", "a whole number, at most the number of layers", "1",
      "Pipeline-parallel size: the layers are split into stages on this many ranks.",
      "Divides the layers. Adds a bubble at the start and end of each step, which more "
      "micro-batches shrink, and sends at each stage boundary. Suited to links between nodes."},
     read_whole<&Draft::pp, kMaxDegree>},
    {{"parallelism.dp_size", "a whole number", "world_size / (TP x CP x PP)",
      "Data-parallel size: the number of model copies, each with its part of the batch.",
      "Multiplies throughput. Each copy holds all states unless ZeRO shards them. Gradients are "
      "reduced once per step."},
     read_whole<&Draft::dp, kMaxDegree>},
    {{"parallelism.ep_size", "a whole number that divides the experts", "1",
      "Expert-parallel size: the experts of a MoE layer are distributed over this many of the DP x "
      "CP x TP ranks.",
      "Divides expert memory. Adds two all-to-alls per MoE layer in the forward pass and two in "
      "the backward pass."},
     read_whole<&Draft::ep, kMaxDegree>},
    {{"parallelism.etp_size", "a whole number that divides the expert's intermediate size",
      "1 if ep_size is above 1, otherwise tp_size",
      "Expert tensor-parallel size: each expert is split over this many ranks.",
      "Experts are small: splitting them makes small matmuls and more collectives."},
     read_whole<&Draft::etp, kMaxDegree>},
    {{"parallelism.order", "axes joined by '-', innermost first", "tp-cp-ep-dp-pp",
      "Rank order: the first axis has adjacent ranks and uses the fastest links.",
      "A wrong order puts the most frequent collectives on the slowest links."},
     read_order},
    {{"parallelism.zero_stage", "0, 1, 2 or 3", "0",
      "ZeRO stage, sharding over the data-parallel ranks: 1 optimizer states, 2 also gradients, 3 "
      "also parameters (FSDP).",
      "Adam with bf16 weights and fp32 gradients takes 18 bytes per parameter. On n data-parallel "
      "ranks, stage 0 leaves 18, 1 leaves 6 + 12/n, 2 leaves 2 + 16/n, 3 leaves 18/n. Stages 2 and "
      "3 communicate in every micro-batch; 3 gathers parameters twice."},
     read_zero_stage},
    {{"parallelism.shard_size", "a divisor of DP x CP", "DP x CP",
      "Hybrid sharding: ZeRO shards over groups of this many adjacent data-parallel ranks.",
      "Keeps the gathers on faster links. Each rank holds more states."},
     read_whole<&Draft::shard_size, kMaxDegree>},
    {{"parallelism.bucket_size", "a whole number", "40,000,000, or DP x CP x 1,000,000 if larger",
      "Elements per bucket: gradient reductions, and the parameter gathers of ZeRO-1 and ZeRO-2, "
      "run in calls of this size.",
      "Small buckets start early but pay latency each; a large one starts only when it is full. "
      "ZeRO-3 communicates per layer instead."},
     read_whole<&Draft::bucket_size, kMaxBucket>},
    {{"parallelism.sequence_parallel", "true or false", "true if tp_size is above 1",
      "Sequence parallelism: the parts of a layer outside the matmuls are split along the sequence "
      "over the TP ranks.",
      "Saves activation memory. All-reduces become all-gathers and reduce-scatters of the same "
      "volume."},
     read_flag<&Draft::sequence_parallel>},
    {{"parallelism.cp_comm", "p2p, all_gather or a2a", "p2p",
      "Context-parallel algorithm: p2p is a ring, all_gather gathers keys and values, a2a is "
      "Ulysses.",
      "p2p overlaps with attention on long sequences. a2a needs CP to divide the heads of a TP "
      "rank."},
     read_cp_comm},
    {{"parallelism.dispatcher", "alltoall, deepep, hybridep or uccl", "alltoall",
      "How tokens are sent to experts: alltoall sends one copy per expert, the others one copy per "
      "node. uccl is DeepEP for networks without GPU-initiated RDMA, such as AWS EFA.",
      "deepep and hybridep send less between nodes, and hybridep does not make the host wait. In "
      "Megatron-LM they need the DeepEP package."},
     read_dispatcher},
    {{"parallelism.micro_batch", "a whole number", "1",
      "Micro-batch size: sequences per forward pass of one data-parallel rank.",
      "Larger micro-batches make matmuls more efficient, need more activation memory, and leave "
      "fewer micro-batches for the pipeline."},
     read_whole<&Draft::micro_batch, kMaxMicroBatch>},
    {{"parallelism.virtual_stages", "a whole number", "1",
      "Virtual stages (chunks) per PP rank: the model has PP x this many stages.",
      "Divides the bubble by this number. Multiplies the sends and receives."},
     read_whole<&Draft::virtual_stages, kMaxChunks>},
    {{"parallelism.microbatch_group", "a whole number, at least pp_size", "pp_size",
      "Interleaved schedules: micro-batches that pass one virtual stage before the next.",
      "Larger groups need more activation memory and give sends more time."},
     read_whole<&Draft::microbatch_group, plan::kMaxBatch>},
    {{"parallelism.schedule", kScheduleNames, "1f1b, or interleaved-1f1b with virtual_stages",
      "Pipeline schedule: the order of forward and backward passes on each PP rank.",
      "Sets the size of the bubble and the activations in flight."},
     read_schedule},
    {{"parallelism.stages", "a layout such as Ett|(tt|)*3ttL, or a list of layers per stage",
      "an even split", "The layers of each stage.",
      "The slowest stage sets the pace. The embedding and the output head add to the first and "
      "last stage."},
     read_stages},
    {{"parallelism.recompute",
      "none, selective, full, {full: N} for N layers per stage, or {modules: [...]} of "
      "core_attn, layernorm, mla_up_proj, mlp, moe_act, moe and shared_experts",
      "none",
      "Activation recomputation: activations that are dropped in the forward pass and computed "
      "again in the backward pass.",
      "full saves most activation memory for about a third more compute; selective recomputes "
      "attention only, or the listed modules."},
     read_recompute},
    {{"parallelism.overlap.grad_reduce", "true or false", "true",
      "Reduce gradients during the backward pass.", "Overlaps data-parallel traffic with compute."},
     read_flag<&Draft::overlap_grad>},
    {{"parallelism.overlap.param_gather", "true or false", "true if zero_stage is above 0",
      "Gather sharded parameters during the forward pass.",
      "Overlaps ZeRO's gathers with compute."},
     read_flag<&Draft::overlap_param>},
    {{"parallelism.overlap.tp", "true or false", "false",
      "Overlap tensor-parallel collectives with the matmuls, in pieces.",
      "Overlaps part of them. Needs sequence parallelism."},
     read_flag<&Draft::overlap_tp>},
    {{"parallelism.overlap.pp", "true or false", "true if virtual_stages is above 1",
      "Overlap pipeline sends and receives with the compute of other micro-batches.",
      "Overlaps most of them. Interleaved schedules send more often and need it most."},
     read_flag<&Draft::overlap_pp>},
    {{"parallelism.overlap.ep", "true or false", "false",
      "Overlap dispatch and combine of one micro-batch with the compute of another.",
      "Overlaps about half of the expert-parallel traffic. Needs an interleaved schedule or no "
      "pipeline, and no full recomputation."},
     read_flag<&Draft::overlap_ep>},
    {{"parallelism.overlap.wgrad", "true or false", "false",
      "Delay weight gradients until the gradients of inputs are sent. Needs overlap.ep.",
      "Weight gradients then overlap dispatch and combine too."},
     read_flag<&Draft::overlap_wgrad>},
    {{"parallelism.offload.optimizer", "a fraction from 0 to 1, or true", "0",
      "Fraction of the optimizer states in host memory, where the CPU updates the parameters.",
      "Saves device memory. A CPU updates about 1.5 billion parameters per second and node."},
     read_fraction<&Draft::offload_optimizer>},
    {{"parallelism.offload.parameters", "true or false", "false",
      "Keep the shards of the parameters in host memory. Needs zero_stage: 3.",
      "Every micro-batch reads them twice over PCIe."},
     read_flag<&Draft::offload_parameters>},
    {{"parallelism.offload.activations", "true or false", "false",
      "Move the inputs of recomputed layers to host memory. Needs recompute: full.",
      "Saves layers x sequence x hidden size x 2 bytes per micro-batch. Long sequences hide the "
      "transfers."},
     read_flag<&Draft::offload_activations>},
    {{"parallelism.offload.nvme", "none, optimizer, parameters or all", "none",
      "Which of the offloaded states are on NVMe drives instead of in host memory. Needs "
      "zero_stage: 3.",
      "Saves host memory. Every step reads and writes 16 bytes per parameter of the optimizer, and "
      "every micro-batch reads the parameters twice."},
     read_named<plan::NvmeStates, &Draft::offload_nvme, plan::nvme_states_names>},
    {{"parallelism.offload.nvme_path", "a path of at most 255 characters", "none",
      "The directory on the drives, on every node.", "Exported as nvme_path of DeepSpeed."},
     [](Reading& r, const YamlNode& node) { r.draft.nvme_path = r.fields.path(node); }},
    {{"placement", "block, cyclic, {hosts: [...]} or {ranks: [...]}", "block",
      "The device of each rank: block fills hosts one after another, cyclic goes round-robin, or a "
      "list.",
      "cyclic puts adjacent ranks on different nodes, so that TP crosses nodes."},
     read_placement},
    {{"model", "a catalog name, a config.json, or shapes",
      "llama-3.1-70b, for the cost per layer only", "The model to train.",
      "Sets the memory and the time of a step."},
     read_model_key},
    {{"cluster", "a catalog name (dgx-h100 x 8), a file, or device and levels",
      "dgx-h100 of node_shape", "The GPUs and the links between them.",
      "Sets the cost of each collective."},
     read_cluster_key},
    {{"job.global_batch", "a whole number", "at least 4 Mi tokens, divided evenly over the GPUs",
      "Global batch: sequences per step, over all ranks.",
      "micro_batch x DP must divide it. The quotient is the number of micro-batches that fill the "
      "pipeline."},
     read_whole<&Draft::global_batch, plan::kMaxBatch>},
    {{"job.sequence", "a whole number", "8192, or the model's context length if that is less",
      "Tokens per sequence.", "Activation memory grows linearly with it, attention quadratically."},
     read_whole<&Draft::sequence, kMaxSequence>},
    {{"job.doc_length", "a whole number, or lengths with fractions (2k:0.5,8k:0.5)",
      "none: one document per sequence",
      "Tokens per document in a packed sequence whose documents do not attend to each other. "
      "Fractions are those of the documents that have each length.",
      "Attention grows with the document's length instead of the sequence's. Several lengths count "
      "as one: the mean of their squares over their mean."},
     read_documents},
    {{"job.loss_tokens", "a whole number", "none: all tokens of the sequence",
      "Tokens per sequence whose logits are computed, as trainers of reinforcement learning do for "
      "the completion without its prompt.",
      "The logits, the output head and the loss shrink with it; layers do not."},
     read_whole<&Draft::loss_tokens, kMaxSequence>},
    {{"job.images", "a whole number", "none: text only",
      "Images per sequence, on average, of a model with an encoder. Their tokens are part of the "
      "sequence.",
      "The first pipeline stage runs the encoder on each; a trained encoder also keeps its "
      "activations."},
     read_images},
    {{"job.clips", "a whole number", "none: text only",
      "Clips of audio per sequence, on average: job.images of a model with an audio encoder. "
      "Whisper's encoders pad a clip to 30 s.",
      "As job.images."},
     read_images},
    {{"job.image_tokens", "a whole number", "as the model's config states",
      "Tokens of the sequence per image or clip. Encoders that take images of any size (Qwen-VL, "
      "Pixtral) need it.",
      "The encoder's time and activations grow with it, its attention quadratically."},
     read_whole<&Draft::image_tokens, kMaxSequence>},
    {{"job.method", "lm, dpo or grpo", "lm",
      "lm: next-token prediction, of pretraining and supervised fine-tuning. dpo: preference "
      "optimization; micro_batch and global_batch count sequences, two per pair. grpo: the update "
      "of reinforcement learning, without its rollouts.",
      "dpo and grpo compute log-probabilities: 16 bytes per logit, or none where TRL computes them "
      "with the output head."},
     read_method},
    {{"job.ref_model", "true or false", "true with dpo, otherwise false",
      "A frozen reference model runs forward on every micro-batch.",
      "Its weights are a second copy, and its forward takes about a third of a step. Under LoRA, "
      "the adapters are turned off instead."},
     read_flag<&Draft::ref_model>},
    {{"job.param_dtype", "fp64, fp32, bf16, fp16 or fp8", "bf16",
      "Number format of parameters and activations.",
      "Sets the bytes of all stored and sent data."},
     read_dtype<&Draft::param_dtype>},
    {{"job.grad_dtype", "fp64, fp32, bf16, fp16 or fp8",
      "the framework's default: fp32 in Megatron-LM and torchtitan, the parameters' format in "
      "DeepSpeed",
      "Number format of gradients and their reduction.",
      "bf16 saves 2 bytes per parameter and half of the data-parallel traffic, at lower "
      "precision."},
     read_dtype<&Draft::grad_dtype>},
    {{"job.matmul", "same, fp8, mxfp8 or fp4", "same: as param_dtype",
      "Number format of the layers' matmuls. The attention core and the output head stay in 16 "
      "bits.",
      "fp8 doubles the peak rate; casts and small matmuls reduce the gain."},
     read_named<plan::Matmul, &Draft::matmul, plan::matmul_names>},
    {{"job.fp8_swiglu_input", "true or false", "false",
      "Keep the input of SwiGLU in fp8 for the backward pass, as DeepSeek-V3 did: "
      "activation_func_fp8_input_store of megatron-core.",
      "Halves what a feed-forward or an expert keeps before its activation function; the gradient "
      "is computed from the rounded values."},
     read_flag<&Draft::fp8_swiglu_input>},
    {{"job.optimizer", "adam, adamw, sgd, lion, adam-8bit, adafactor or muon", "adam",
      "The optimizer, which sets the states per parameter.",
      "Adam keeps 8 bytes of moments per parameter, adam-8bit 2, lion, sgd and muon 4, adafactor "
      "almost none; master_dtype adds a copy of the parameters."},
     read_optimizer},
    {{"job.moment_dtype", "fp32, bf16, fp16 or fp8", "fp32", "Number format of the moments.",
      "bf16 halves them. adam-8bit has its own format."},
     read_dtype<&Draft::moment_dtype, 4>},
    {{"job.master_dtype", "fp32, bf16 or fp16", "fp32",
      "Number format in which the optimizer updates parameters: a copy, if it is wider than "
      "param_dtype.",
      "fp32 takes 4 bytes per parameter; with bf16 parameters and bf16 here there is no copy."},
     read_dtype<&Draft::master_dtype, 3>},
    {{"job.lora_rank", "a whole number", "none: all parameters are trained",
      "Rank of LoRA's adapters: the weights are frozen, and two matrices of this rank per linear "
      "layer are trained.",
      "Gradients and optimizer states almost vanish; weights and activations stay."},
     read_whole<&Draft::lora_rank, kMaxLoraRank>},
    {{"job.lora_modules",
      "all, or a list of q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj and down_proj", "all",
      "The linear layers that have adapters.",
      "Layers without one do not keep their inputs for the backward pass."},
     read_lora_modules},
    {{"job.base_dtype", "same, nf4, int8 or fp32", "same: as param_dtype",
      "Number format of the frozen matrices under LoRA; nf4 is QLoRA's. fp32 is that of all frozen "
      "weights, as transformers loads them unless told otherwise.",
      "nf4 takes 0.52 bytes per weight instead of 2, fp32 takes 4. Each pass casts them to 16 "
      "bits."},
     read_named<plan::BaseDtype, &Draft::base_dtype, plan::base_dtype_names>},
    {{"job.frozen", "a list of encoder, embedding, layers A-B and head",
      "none: all parameters are trained",
      "Parts whose weights are not trained. Layers count from 0. A tied head's weight belongs to "
      "the "
      "embedding, the last norm to the head.",
      "Frozen weights have no gradients and no optimizer states. If the embedding and all layers "
      "up "
      "to one are frozen, these run forward only and keep no activations; in a pipeline, backward "
      "runs through them."},
     read_frozen},
    {{"job.expert_imbalance", "a number from 1 to 100", "1.1",
      "Tokens of the busiest expert-parallel rank over the mean. 1 if the router is forced to "
      "balance.",
      "The other ranks wait for it, and it needs the memory of its tokens."},
     read_factor<&Draft::expert_imbalance, 100>},
    {{"job.expert_capacity", "a number from 0.01 to 100", "none: no token is dropped",
      "Capacity factor of experts: tokens per expert over the mean, padded, the rest dropped.",
      "Fixed shapes need no synchronization with the host."},
     read_factor<&Draft::expert_capacity, 1>},
    {{"software.framework",
      "megatron-core, nemo, mlperf, megatron-2021, megatron-deepspeed, deepspeed, "
      "deepspeed-2021, torchtitan, torchtitan-2024, transformers, transformers-2024, litgpt-2024, "
      "llm-foundry, fsdp, maxtext, rankwright, hai-llm or own",
      "megatron-core",
      "The framework that runs the plan. Sets the defaults of the other `software` keys.",
      "Sets kernels, launch overheads and memory besides the model states."},
     read_framework},
    {{"software.release", "0.10 to 0.19 of megatron-core, 25.09 to 26.08 of nemo, 2021 or 2024",
      "the newest", "Release of the framework. A year names a dated framework row.",
      "Older releases have slower ways to send tokens to experts, and plan does not use what they "
      "lack."},
     read_release},
    {{"software.target", kTargetNames, "any: only rules that apply to every framework",
      "The framework or launcher that the plan is for.",
      "check and report apply its rules, plan searches layouts that it can run, export writes its "
      "files."},
     read_target},
    {{"software.attention", "unfused, flash1, flash2 or fused", "the framework's default",
      "Attention kernel; fused is cuDNN's or FlashAttention-3.",
      "unfused stores the scores: 5 bytes per score, quadratic in the sequence length."},
     read_named<plan::AttentionKernel, &Draft::attention, plan::attention_kernel_names>},
    {{"software.launch", "eager, partial_graphs, graphs, compiled or blocking",
      "the framework's default",
      "How kernels are launched. partial_graphs are CUDA graphs of attention and router, graphs "
      "those of the whole iteration.",
      "Without graphs, small layers are limited by kernel-launch overhead. Graphs need memory."},
     read_named<plan::Launch, &Draft::launch, plan::launch_names>},
    {{"software.expert_kernel", "sequential, grouped or fused", "the framework's default",
      "How the experts of a rank compute: one after another, in one grouped kernel, or grouped "
      "with activation and casts inside.",
      "fused saves the casts of 8-bit experts."},
     read_named<plan::ExpertKernel, &Draft::expert_kernel, plan::expert_kernel_names>},
    {{"software.fused_permute", "true or false", "the framework's default",
      "One kernel permutes tokens to their experts.", "Halves the passes over dispatched tokens."},
     read_flag<&Draft::fused_permute>},
    {{"software.compile", "true or false", "false for torchtitan, true for others",
      "torch.compile, or the framework's own kernels, fuse the operations between matmuls.",
      "Without it, layers keep a quarter more activations."},
     read_flag<&Draft::compile>},
    {{"software.sync_each_batch", "true or false",
      "false for transformers and litgpt, true for others",
      "FSDP reduces gradients in every micro-batch of a step, not only in the last "
      "(gradient_accumulation_kwargs of Hugging Face's accelerator_config).",
      "Without it, a step of several micro-batches holds whole gradients beside the shards."},
     read_flag<&Draft::sync_each_batch>},
    {{"software.loss",
      "fused, unfused, sharded, eager, log_softmax, log_probs, in_place, fused_linear or chunked",
      "the framework's default",
      "Implementation of the loss: 4, 6, 10, 14, 12, 16, 6, 0 or 1.75 bytes per logit at its peak. "
      "log_softmax is transformers', fused_linear Liger's or Cut Cross-Entropy, chunked "
      "torchtitan's.",
      "With a vocabulary of 128k and 8,192 tokens, this is 4.2 to 14.7 GB on one rank."},
     read_named<plan::Loss, &Draft::loss, plan::loss_names>},
    {{"software.tuned", "true or false", "the framework's default",
      "The vendor tuned the recipe for this model and machine.",
      "Tuned recipes run about a tenth faster on the same layout."},
     read_flag<&Draft::tuned>},
};

}  // namespace

std::span<const KeyRow> key_rows() {
  static const std::string schedules =
      fmt::format("{}", fmt::join(names_of_rows(pipeline::schedules()), ", "));
  static const std::string targets =
      fmt::format("any, {}", fmt::join(names_of_rows(rules::targets()), ", "));
  static const std::vector<KeyRow> rows = [] {
    std::vector<KeyRow> copy(std::begin(kKeys), std::end(kKeys));
    for (KeyRow& row : copy) {
      if (row.key.values == kScheduleNames) row.key.values = schedules;
      if (row.key.values == kTargetNames) row.key.values = targets;
    }
    return copy;
  }();
  return rows;
}

std::span<const std::string_view> key_groups() { return kGroups; }

std::span<const WordHint> key_hints() { return kHints; }

}  // namespace rankwright::importer
