#include "rankwright/import/plan/plan_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rankwright/base/format.h"
#include "rankwright/import/cluster/cluster_file.h"
#include "rankwright/import/plan/model_file.h"
#include "rankwright/rules/target.h"

namespace rankwright::importer {
namespace {

/// Reads a whole number from 1 to `max` into `member`.
template <std::optional<i64> Draft::*member, i64 max>
void read_whole(Reading& r, const YamlNode& node) {
  r.draft.*member = r.fields.whole(node, 1, max);
}

template <std::optional<bool> Draft::*member>
void read_flag(Reading& r, const YamlNode& node) {
  r.draft.*member = r.fields.flag(node);
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
                           .message = "not a node shape",
                           .detail = fmt::format("'{}' is not of the form N_nodes_x_M_gpus",
                                                 make_excerpt(*text)),
                           .hint = "such as 8_nodes_x_8_gpus"});
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
                           .detail = fmt::format("{} GPUs are more than {}", count(*n * *m),
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
  r.fields.report(node,
                  {.code = "RW0907",
                   .message = "a value that is not known",
                   .detail = fmt::format("'{}' does not name each of tp, cp, ep, dp, pp at most "
                                         "once",
                                         make_excerpt(*text)),
                   .hint = "such as tp-cp-ep-dp-pp: the leftmost axis has neighbouring ranks"});
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
                           .detail = "the list of stages is empty",
                           .hint = "such as [7, 8, 8, 7], or leave the key out"});
  }
}

/// Reads none | selective | full, or {full: 4} for 4 layers per pp rank.
void read_recompute(Reading& r, const YamlNode& node) {
  const bool partly = node.kind == YamlNode::Kind::map;
  if (!partly) {
    if (const std::optional<std::size_t> index = r.fields.one_of(node, plan::recompute_names()))
      r.draft.recompute = plan::Recompute(*index);
    return;
  }
  r.fields.each(node, {"full"}, [&](std::size_t, const YamlNode& layers) {
    r.draft.recompute = plan::Recompute::full;
    r.draft.recompute_layers = r.fields.whole(layers, 1, plan::kMaxStages);
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

void read_model_key(Reading& r, const YamlNode& node) {
  r.draft.model = read_model(r.fields, node, r.files);
}

void read_cluster_key(Reading& r, const YamlNode& node) {
  r.draft.cluster = read_cluster(r.fields, node, r.files);
}

template <std::optional<plan::Dtype> Draft::*member>
void read_dtype(Reading& r, const YamlNode& node) {
  if (const std::optional<std::size_t> index = r.fields.one_of(node, names_of_rows(plan::dtypes())))
    r.draft.*member = plan::dtypes()[*index].dtype;
}

void read_optimizer(Reading& r, const YamlNode& node) {
  if (const std::optional<std::size_t> index =
          r.fields.one_of(node, names_of_rows(plan::optimizers())))
    r.draft.optimizer = plan::optimizers()[*index].optimizer;
}

void read_framework(Reading& r, const YamlNode& node) {
  if (const std::optional<std::size_t> index =
          r.fields.one_of(node, names_of_rows(plan::frameworks())))
    r.draft.framework = plan::frameworks()[*index];
}

void read_target(Reading& r, const YamlNode& node) {
  std::vector<std::string_view> names{"any"};
  for (const rules::TargetRow& row : rules::targets()) names.push_back(row.name);
  if (const std::optional<std::size_t> index = r.fields.one_of(node, names))
    r.draft.target = *index == 0 ? rules::Target::any : rules::targets()[*index - 1].target;
}

/// Reads one of a list of names into `member`.
template <class Enum, std::optional<Enum> Draft::*member,
          std::span<const std::string_view> (*names_of)()>
void read_named(Reading& r, const YamlNode& node) {
  if (const std::optional<std::size_t> index = r.fields.one_of(node, names_of()))
    r.draft.*member = Enum(*index);
}

constexpr std::string_view kGroups[] = {"parallelism", "parallelism.overlap", "job", "software"};

constexpr std::string_view kMicrobatches =
    "job: {global_batch: N}, with N = microbatches x micro_batch x dp_size";
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
    {"hsdp", "", "parallelism: {zero_stage: 3, shard_size: N}, with N ranks that share one copy"},
    {"ddp", "", "parallelism: {zero_stage: 0}, or leave it out"},
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
      "Ranks in all: one process for each GPU.",
      "The degrees tp x cp x pp x dp must multiply to it."},
     read_whole<&Draft::world, kMaxDegree>},
    {{"node_shape", "N_nodes_x_M_gpus", "nodes of 8 GPUs",
      "How the GPUs are boxed. A short form of `cluster` that names no hardware.",
      "What leaves the box crosses a link that is several times slower."},
     read_node_shape},
    {{"reading_note", "text", "nothing", "A remark for people; nothing is computed from it.", ""},
     ignore_value},
    {{"name", "text", "nothing", "What to call the plan; nothing is computed from it.", ""},
     ignore_value},
    {{"parallelism.tp_size", "a whole number that divides the attention heads", "1",
      "Tensor parallelism: every layer's matrices are cut over so many ranks.",
      "Divides a layer's memory and work; costs collectives inside every layer, on the critical "
      "path. Keep it inside the fastest level."},
     read_whole<&Draft::tp, kMaxDegree>},
    {{"parallelism.cp_size", "a whole number; 2 x cp divides the sequence", "1",
      "Context parallelism: every sequence is cut over so many ranks.",
      "Divides activations of long sequences; costs keys and values on the wire in every layer."},
     read_whole<&Draft::cp, kMaxContext>},
    {{"parallelism.pp_size", "a whole number, at most the layers", "1",
      "Pipeline parallelism: layers are cut into stages on so many ranks.",
      "Divides layers; costs idle time at fill and drain, which more microbatches shrink, and a "
      "send and receive at each stage boundary. At home across nodes, but not free."},
     read_whole<&Draft::pp, kMaxDegree>},
    {{"parallelism.dp_size", "a whole number", "what the other degrees leave of the world",
      "Data parallelism: so many copies, each with its part of the batch.",
      "Multiplies the work done; every copy holds the whole of its share unless ZeRO shards it; "
      "gradients are reduced once a step."},
     read_whole<&Draft::dp, kMaxDegree>},
    {{"parallelism.ep_size", "a whole number that divides the experts", "1",
      "Expert parallelism: the experts of a MoE layer are spread over so many ranks, carved out of "
      "dp x cp x tp.",
      "Divides expert memory; costs two all-to-alls a MoE layer forward and two backward."},
     read_whole<&Draft::ep, kMaxDegree>},
    {{"parallelism.etp_size", "a whole number that divides an expert's width",
      "1 with ep_size above 1, else tp_size", "Tensor parallelism inside one expert.",
      "Experts are narrow: cutting them makes small matmuls and more collectives."},
     read_whole<&Draft::etp, kMaxDegree>},
    {{"parallelism.order", "axes joined by '-', innermost first", "tp-cp-ep-dp-pp",
      "Which axis has neighbouring ranks, and so sits on the fastest level.",
      "Nothing in itself; a wrong order puts the most frequent collective on the slowest link."},
     read_order},
    {{"parallelism.zero_stage", "0, 1, 2 or 3", "0",
      "What is sharded over the data ranks: 1 optimizer states, 2 gradients too, 3 parameters too "
      "(FSDP).",
      "Adam with bf16 weights and fp32 gradients takes 18 bytes per parameter. On n data ranks 0 "
      "leaves 18, 1 leaves 6 + 12/n, 2 leaves 2 + 16/n, 3 leaves 18/n. Stages 2 and 3 communicate "
      "every microbatch, 3 gathers parameters twice."},
     read_zero_stage},
    {{"parallelism.shard_size", "a divisor of dp x cp", "all of dp x cp",
      "Hybrid sharding: ZeRO shards over so many neighbouring data ranks and repeats beyond.",
      "Keeps the gathers on a faster level; holds more on each rank."},
     read_whole<&Draft::shard_size, kMaxDegree>},
    {{"parallelism.bucket_size", "a whole number", "40,000,000, or dp x cp x 1,000,000 if more",
      "Elements of a bucket: gradients are reduced, and ZeRO-1 and 2 gather parameters, so many in "
      "one call.",
      "Small ones start early and pay latency each; nothing of a large one starts until it is "
      "full. ZeRO-3 goes by layer instead."},
     read_whole<&Draft::bucket_size, kMaxBucket>},
    {{"parallelism.sequence_parallel", "true or false", "true with tp_size above 1",
      "The parts of a layer outside the matmuls are cut along the sequence over tp.",
      "Saves activations; all-reduces become all-gathers and reduce-scatters of the same volume."},
     read_flag<&Draft::sequence_parallel>},
    {{"parallelism.cp_comm", "p2p, all_gather or a2a", "p2p",
      "How context parallelism exchanges keys and values: a ring, a gather, or heads for sequence "
      "(Ulysses).",
      "p2p hides behind attention on long sequences; a2a needs cp to divide the heads of a tp "
      "rank."},
     read_cp_comm},
    {{"parallelism.dispatcher", "alltoall or deepep", "alltoall",
      "How tokens reach experts on other ranks: one copy per expert, or one copy per node that has "
      "any of them.",
      "deepep sends less between nodes. Megatron-LM needs the DeepEP package for it."},
     read_dispatcher},
    {{"parallelism.micro_batch", "a whole number", "1",
      "Sequences that go through the model at a time on one data rank.",
      "Larger ones fill the matmuls better, hold more activations and leave fewer microbatches."},
     read_whole<&Draft::micro_batch, kMaxMicroBatch>},
    {{"parallelism.virtual_stages", "a whole number", "1",
      "Chunks a pp rank: the model is cut into pp x this many stages.",
      "Divides the bubble by it; multiplies the sends and receives."},
     read_whole<&Draft::virtual_stages, kMaxChunks>},
    {{"parallelism.microbatch_group", "a whole number from pp_size on", "pp_size",
      "Interleaved schedules: microbatches that pass through one chunk before the next chunk.",
      "Larger groups hold more activations and give sends more time."},
     read_whole<&Draft::microbatch_group, plan::kMaxBatch>},
    {{"parallelism.schedule", kScheduleNames, "1f1b, with virtual_stages interleaved-1f1b",
      "In which order a pp rank runs forwards and backwards.",
      "Decides bubble and activations in flight."},
     read_schedule},
    {{"parallelism.stages", "a layout such as Ett|(tt|)*3ttL, or a list of layers a stage",
      "as even as whole layers go", "Which layers stand on which stage.",
      "The slowest stage sets the pace; embedding and output head weigh on the first and last."},
     read_stages},
    {{"parallelism.recompute", "none, selective, full, or {full: N} for N layers a pp rank", "none",
      "What is dropped in forward and computed again in backward.",
      "full saves most activations for about a third more work; selective drops attention only."},
     read_recompute},
    {{"parallelism.overlap.grad_reduce", "true or false", "true",
      "Gradients are reduced while backward still runs.", "Hides data-parallel traffic."},
     read_flag<&Draft::overlap_grad>},
    {{"parallelism.overlap.param_gather", "true or false", "true with zero_stage above 0",
      "Sharded parameters are gathered while forward already runs.", "Hides ZeRO's gathers."},
     read_flag<&Draft::overlap_param>},
    {{"parallelism.overlap.tp", "true or false", "false",
      "Tensor-parallel collectives are cut into pieces and run beside the matmuls.",
      "Hides part of them; needs sequence parallelism."},
     read_flag<&Draft::overlap_tp>},
    {{"parallelism.overlap.pp", "true or false", "true with virtual_stages above 1",
      "Pipeline sends and receives run beside the computation of other microbatches.",
      "Hides most of them; interleaved schedules send more often and need it most."},
     read_flag<&Draft::overlap_pp>},
    {{"parallelism.overlap.ep", "true or false", "false",
      "Dispatch and combine of one microbatch run beside the computation of another.",
      "Overlaps about half of the expert-parallel traffic. Needs an interleaved schedule or no "
      "pipeline, and no full recomputation."},
     read_flag<&Draft::overlap_ep>},
    {{"placement", "block, cyclic, {hosts: [...]} or {ranks: [...]}", "block",
      "Which device each rank sits on: hosts filled one after another, dealt round, or as listed.",
      "cyclic tears neighbouring ranks apart: tp leaves the node."},
     read_placement},
    {{"model", "a catalog name, a config.json, or shapes",
      "llama-3.1-70b, for the cost per layer only", "The network that is trained.",
      "Decides whether it fits and what a step costs."},
     read_model_key},
    {{"cluster", "a catalog name (dgx-h100 x 8), a file, or device and levels",
      "dgx-h100 of node_shape", "The devices and the links between them.",
      "Decides what each collective costs."},
     read_cluster_key},
    {{"job.global_batch", "a whole number", "4 Mi tokens or more, the same on every GPU",
      "Sequences a step, all ranks together.",
      "micro_batch x dp must divide it; what is left are the microbatches that fill the pipeline."},
     read_whole<&Draft::global_batch, plan::kMaxBatch>},
    {{"job.sequence", "a whole number", "8192, or what the model was made for if that is less",
      "Tokens a sequence.", "Activations grow with it, attention with its square."},
     read_whole<&Draft::sequence, kMaxSequence>},
    {{"job.param_dtype", "fp64, fp32, bf16, fp16 or fp8", "bf16",
      "Format of parameters and activations.", "Bytes of everything that is stored and sent."},
     read_dtype<&Draft::param_dtype>},
    {{"job.grad_dtype", "fp64, fp32, bf16, fp16 or fp8",
      "the framework's: fp32 in Megatron-LM and torchtitan, as the parameters in DeepSpeed",
      "Format of gradients and their reduction.",
      "bf16 saves 2 bytes per parameter and half of data-parallel traffic, and sums less exactly."},
     read_dtype<&Draft::grad_dtype>},
    {{"job.matmul", "same, fp8, mxfp8 or fp4", "same: as param_dtype",
      "What the matmuls of the layers compute in; attention's core and the head stay in 16 bits.",
      "fp8 doubles the peak; casts and small matmuls eat part of it."},
     read_named<plan::Matmul, &Draft::matmul, plan::matmul_names>},
    {{"job.optimizer", "adam, sgd or lion", "adam", "Which states are kept for each parameter.",
      "Adam keeps 8 bytes and an fp32 copy of 4; with fp64 parameters 16 and no copy."},
     read_optimizer},
    {{"software.framework",
      "megatron-core, nemo, mlperf, megatron-2021, megatron-deepspeed, deepspeed, "
      "deepspeed-2021, torchtitan, llm-foundry, fsdp, maxtext, rankwright or own",
      "megatron-core", "What runs the plan: sets the other keys of `software`.",
      "Decides kernels, launches, and what is held in memory besides the states."},
     read_framework},
    {{"software.target", kTargetNames, "any: only the rules that hold for every framework",
      "What the plan is for: the framework or launcher whose rules hold for it.",
      "check and report apply its rules, plan searches what it runs, export writes its files."},
     read_target},
    {{"software.attention", "unfused, flash1, flash2 or fused", "the framework's",
      "Attention's kernel; fused is cuDNN's or FlashAttention-3.",
      "unfused keeps the scores: 5 bytes a score and its square in the sequence."},
     read_named<plan::AttentionKernel, &Draft::attention, plan::attention_kernel_names>},
    {{"software.launch", "eager, graphs, compiled or blocking", "the framework's",
      "How kernels reach the GPU.", "Small layers wait for the host unless it is graphs."},
     read_named<plan::Launch, &Draft::launch, plan::launch_names>},
    {{"software.loss", "fused, unfused, sharded, eager or in_place", "the framework's",
      "How the loss is computed: 4, 6, 10, 14 or 6 bytes a logit at its peak.",
      "A vocabulary of 128k and 8,192 tokens: 4.2 to 14.7 GB on one rank."},
     read_named<plan::Loss, &Draft::loss, plan::loss_names>},
    {{"software.tuned", "true or false", "the framework's",
      "The recipe was tuned for this model and machine by its vendor.",
      "Those run about a tenth faster than others on the same layout."},
     read_flag<&Draft::tuned>},
    {{"software.offload", "true or false", "false",
      "Optimizer states or parameters are kept in the host's memory.",
      "Not modeled: they are counted on the GPU, so that memory is an upper bound, and the time of "
      "moving them is not counted."},
     read_flag<&Draft::offload>},
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
