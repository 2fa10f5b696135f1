// Reads torchtitan's TOML config (checked against torchtitan v0.2.2; later versions have none).
#include "rankwright/import/framework/torchtitan.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/import/framework/foreign.h"
#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/framework/torchtitan_facts.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/syntax/toml_tree.h"

namespace rankwright::importer {
namespace {

void read_mixed_precision_param(ForeignReading& r, const YamlNode& node) {
  constexpr Word<plan::Dtype> kWords[] = {{"bfloat16", plan::Dtype::bf16},
                                          {"float32", plan::Dtype::fp32}};
  r.draft.param_dtype = parse_word(r, node, kWords);
}

void read_mixed_precision_reduce(ForeignReading& r, const YamlNode& node) {
  constexpr Word<plan::Dtype> kWords[] = {{"float32", plan::Dtype::fp32},
                                          {"bfloat16", plan::Dtype::bf16}};
  r.draft.grad_dtype = parse_word(r, node, kWords);
}

/// Reads the format in which weights are kept: with bfloat16, gradients and optimizer states have
/// it too, and there is no fp32 copy. Read after the settings of mixed precision.
void read_training_dtype(ForeignReading& r, const YamlNode& node) {
  constexpr Word<plan::Dtype> kWords[] = {{"float32", plan::Dtype::fp32},
                                          {"bfloat16", plan::Dtype::bf16}};
  const std::optional<plan::Dtype> kept = parse_word(r, node, kWords);
  if (kept != plan::Dtype::bf16) return;
  r.draft.param_dtype = r.draft.grad_dtype = plan::Dtype::bf16;
  report_left_out(r, node,
                  "training.dtype: optimizer states are kept in bfloat16, and estimated in fp32");
}

/// torch's ring: KV is rotated by all-to-all, or gathered once.
void read_rotate_method(ForeignReading& r, const YamlNode& node) {
  constexpr Word<plan::CpComm> kWords[] = {{"allgather", plan::CpComm::all_gather},
                                           {"alltoall", plan::CpComm::p2p}};
  r.draft.cp_comm = parse_word(r, node, kWords);
}

void read_mode(ForeignReading& r, const YamlNode& node) {
  if (node.scalar == "memory_budget")
    return report_left_out(
        r, node,
        "activation_checkpoint.mode: a memory budget is estimated as selective recomputation");
  constexpr Word<plan::Recompute> kWords[] = {{"none", plan::Recompute::none},
                                              {"selective", plan::Recompute::selective},
                                              {"full", plan::Recompute::full}};
  r.draft.recompute = parse_word(r, node, kWords);
}

bool is_selective(const ForeignReading& r) {
  const YamlNode* const mode = find_path(r.root, "activation_checkpoint.mode");
  return mode == nullptr || mode->scalar == "selective";
}

void read_selective_option(ForeignReading& r, const YamlNode& node) {
  if (is_selective(r) && node.scalar != "op")
    report_left_out(r, node,
                    "activation_checkpoint.selective_ac_option: layers that are recomputed whole "
                    "are estimated as every second matmul of all layers");
}

/// Reports the default of a TOML file: every version that has them recomputes every second layer
/// whole ("2"; torchtitan/config/job_config.py, until 2026-02).
void report_selective_default(ForeignReading& r) {
  const YamlNode* const mode = find_path(r.root, "activation_checkpoint.mode");
  if (!is_selective(r) || find_path(r.root, "activation_checkpoint.selective_ac_option") != nullptr)
    return;
  YamlNode place;  // the file
  report_left_out(
      r, mode == nullptr ? place : *mode,
      "activation_checkpoint.selective_ac_option is 2 by default: every second layer is "
      "recomputed whole, and estimated as every second matmul of all layers");
}

void read_torchtitan_optimizer(ForeignReading& r, const YamlNode& node) {
  read_optimizer_class(r, node);
}

/// Reads "quantize.linear.float8", or the older "float8"; one value or a list.
void read_converters(ForeignReading& r, const YamlNode& node) {
  std::vector<const YamlNode*> all = {&node};
  if (node.kind == YamlNode::Kind::sequence) {
    all.clear();
    for (const YamlNode& one : node.items) all.push_back(&one);
  }
  for (const YamlNode* const one : all) {
    if (one->scalar.ends_with("float8"))
      r.draft.matmul = plan::Matmul::fp8;
    else if (one->scalar.ends_with(".mx") || one->scalar == "mx")
      r.draft.matmul = plan::Matmul::mxfp8;
    else if (!one->scalar.empty() && one->scalar != "primus_turbo")  // Primus' kernels
      report_left_out(r, *one,
                      fmt::format("model.converters: times and memory do not include '{}'",
                                  make_excerpt(one->scalar)));
  }
}

/// Reads what is compiled: a loss alone leaves the layers as they are.
void read_compiled_parts(ForeignReading& r, const YamlNode& node) {
  if (node.kind != YamlNode::Kind::sequence || node.items.empty()) return;
  const bool layers = std::any_of(node.items.begin(), node.items.end(),
                                  [](const YamlNode& one) { return one.scalar == "model"; });
  if (!layers) r.draft.compile = false;
}

/// The data ranks, as they were named in 2024; -1 are all others.
void read_old_degree(ForeignReading& r, const YamlNode& node) {
  if (node.scalar != "-1") r.draft.dp = r.fields.whole(node, 1, kMaxDegree);
}

/// The switch of 2024 for matmuls in 8 bits.
void read_old_float8(ForeignReading& r, const YamlNode& node) {
  if (r.fields.flag(node) != true) return;
  if (find_path(r.root, "training.local_batch_size") == nullptr) {
    r.draft.matmul = plan::Matmul::fp8;
    return;
  }
  // Releases with this key have converters instead.
  if (find_path(r.root, "model.converters") == nullptr)
    report_left_out(r, node,
                    "enable_float8_linear has no effect since model.converters turns float8 on: "
                    "estimated in bf16");
}

/// The switch before that one: "" is off, and "dynamic" and "delayed" are ways of scaling.
void read_oldest_float8(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node)) r.draft.matmul = plan::Matmul::fp8;
}

void read_comm_backend(ForeignReading& r, const YamlNode& node) {
  constexpr Word<plan::Dispatcher> kWords[] = {{"standard", plan::Dispatcher::alltoall},
                                               {"deepep", plan::Dispatcher::deepep},
                                               {"hybridep", plan::Dispatcher::hybridep}};
  r.draft.dispatcher = parse_word(r, node, kWords);
}

constexpr std::string_view kEven = "estimated with an even split of the model's layers";

constexpr ForeignKey kTorchtitanKeys[] = {
    {"parallelism.tensor_parallel_degree", "parallelism.tp_size", whole<&Draft::tp, kMaxDegree>,
     true},
    {"parallelism.context_parallel_degree", "parallelism.cp_size", whole<&Draft::cp, kMaxContext>,
     true},
    {"parallelism.pipeline_parallel_degree", "parallelism.pp_size", whole<&Draft::pp, kMaxDegree>,
     true},
    {"parallelism.data_parallel_shard_degree", "parallelism.dp_size"},
    {"parallelism.data_parallel_replicate_degree", "parallelism.shard_size"},
    {"training.enable_float8_linear", "job.matmul", read_old_float8},
    {"float8.enable_float8_linear", "job.matmul", read_old_float8},
    {"training.fp8_linear", "job.matmul", read_oldest_float8},
    {"parallelism.expert_parallel_comm_backend", "parallelism.dispatcher", read_comm_backend},
    {"training.data_parallel_degree", "parallelism.dp_size", read_old_degree},
    {"parallelism.expert_parallel_degree", "parallelism.ep_size", whole<&Draft::ep, kMaxDegree>,
     true},
    {"parallelism.expert_tensor_parallel_degree", "parallelism.etp_size"},
    {"parallelism.fsdp_reshard_after_forward", "parallelism.zero_stage"},
    {"parallelism.enable_async_tensor_parallel", "parallelism.overlap.tp", flag<&Draft::overlap_tp>,
     true},
    {"parallelism.context_parallel_rotate_method", "parallelism.cp_comm", read_rotate_method},
    {"parallelism.pipeline_parallel_schedule", "parallelism.schedule"},
    {"parallelism.pipeline_parallel_schedule_csv", "parallelism.schedule"},
    {"parallelism.module_fqns_per_model_part", "parallelism.stages"},
    {"parallelism.pipeline_parallel_layers_per_stage", "parallelism.stages"},
    {"parallelism.pipeline_parallel_first_stage_less_layers", "parallelism.stages"},
    {"parallelism.pipeline_parallel_last_stage_less_layers", "parallelism.stages"},
    {"parallelism.pipeline_parallel_microbatch_size", "parallelism.micro_batch"},
    {"parallelism.pipeline_parallel_microbatches", "parallelism.micro_batch"},
    {"training.local_batch_size", "job.global_batch"},
    {"training.batch_size", "job.global_batch"},
    {"training.global_batch_size", "job.global_batch"},
    {"training.seq_len", "job.sequence", whole<&Draft::sequence, kMaxSequence>, true},
    {"training.mixed_precision_param", "job.param_dtype", read_mixed_precision_param},
    {"training.mixed_precision_reduce", "job.grad_dtype", read_mixed_precision_reduce},
    {"compile.enable", "software.compile", flag<&Draft::compile>, true},
    {"training.compile", "software.compile", flag<&Draft::compile>, true},
    {"compile.components", "software.compile", read_compiled_parts},
    {"training.dtype", "job.param_dtype", read_training_dtype},
    {"activation_checkpoint.mode", "parallelism.recompute", read_mode},
    {"activation_checkpoint.selective_ac_option", "parallelism.recompute", read_selective_option},
    {"optimizer.name", "job.optimizer", read_torchtitan_optimizer},
    {"optimizer.early_step_in_backward", "", nullptr, false,
     "gradients are counted until the end of the backward pass"},
    {"model.converters", "job.matmul", read_converters},
    {"model.name", "model"},
    {"model.flavor", "model"},
    {"hf_transformers.model", "model"},
    {"parallelism.pipeline_parallel_split_points", "parallelism.stages", nullptr, false, kEven},
    {"parallelism.disable_loss_parallel", "", nullptr, false,
     "the output head is estimated as split over TP"},
    {"parallelism.pipeline_parallel_expert_parallel_overlap", "parallelism.overlap.ep",
     flag<&Draft::overlap_ep>},
    {"training.enable_cpu_offload", "parallelism.offload.parameters", read_offload_all},
    {"fault_tolerance.enable", "", nullptr, false, "replicas are estimated as one fixed mesh"},
};

const YamlNode* in_parallelism(const ForeignReading& r, std::string_view key) {
  return find_path(r.root, fmt::format("parallelism.{}", key));
}

/// Returns the number at a path, unless it is missing or -1.
std::optional<i64> read_stated(ForeignReading& r, std::string_view path, i64 min, i64 max) {
  const YamlNode* const node = find_path(r.root, path);
  if (node == nullptr || node->scalar == "-1") return std::nullopt;
  return r.fields.whole(*node, min, max);
}

/// dp = replicas x shards. FSDP if there are shards or cp, otherwise DDP.
void read_data_ranks(ForeignReading& r) {
  Draft& draft = r.draft;
  const i64 replicas =
      read_stated(r, "parallelism.data_parallel_replicate_degree", 1, kMaxDegree).value_or(1);
  const std::optional<i64> shards =
      read_stated(r, "parallelism.data_parallel_shard_degree", 1, kMaxDegree);
  const std::optional<i64> dp = product({replicas, shards.value_or(1)});
  if (shards && dp && *dp <= kMaxDegree) draft.dp = dp;
  const bool sharded = shards != 1 || draft.cp > 1;
  if (replicas > 1) draft.replicas = replicas;
  if (!sharded && replicas > 1) {
    draft.zero = 0;
    draft.replicas = std::nullopt;
    return;
  }
  constexpr Word<int> kWords[] = {{"default", 0}, {"always", 3}, {"never", 2}};
  const YamlNode* const policy = in_parallelism(r, "fsdp_reshard_after_forward");
  const int zero = policy == nullptr ? 0 : parse_word(r, *policy, kWords).value_or(0);
  const int usual = !sharded ? 0 : draft.pp > 1 ? 2 : 3;
  draft.zero = zero == 0 ? usual : zero;
}

/// Without a pipeline, the local batch is the micro-batch and the rest is accumulated. With one,
/// the local batch is split into microbatches, and accumulation beyond it drains the pipeline each
/// time: the plan is one such pass.
void read_torchtitan_batch(ForeignReading& r) {
  Draft& draft = r.draft;
  std::optional<i64> local = read_stated(r, "training.local_batch_size", 1, kMaxMicroBatch);
  if (!local) local = read_stated(r, "training.batch_size", 1, kMaxMicroBatch);
  const i64 batch = local.value_or(8);  // torchtitan's default
  if (draft.pp > 1) {
    draft.micro_batch =
        read_stated(r, "parallelism.pipeline_parallel_microbatch_size", 1, kMaxMicroBatch)
            .value_or(1);
    // Until 2025 the number of microbatches was stated instead of their size.
    const std::optional<i64> number =
        read_stated(r, "parallelism.pipeline_parallel_microbatches", 1, kMaxMicroBatch);
    if (number && divides(*number, batch)) draft.micro_batch = batch / *number;
    draft.accumulation = std::max<i64>(1, batch / *draft.micro_batch);
    return;
  }
  draft.micro_batch = batch;
  draft.global_batch = read_stated(r, "training.global_batch_size", 1, plan::kMaxBatch);
  if (!draft.global_batch) draft.accumulation = 1;
}

void read_flavor(ForeignReading& r) {
  const YamlNode* const name = find_path(r.root, "model.name");
  const YamlNode* const flavor = find_path(r.root, "model.flavor");
  if (flavor != nullptr && flavor->scalar.starts_with("flux"))
    return r.fields.report(*flavor, {.code = "RW0603",
                                     .message = "unrecognized file format",
                                     .detail = "this config trains a diffusion model: language "
                                               "models are estimated"});
  // The experiment with models of transformers names one of a hub; its flavor is a small one for
  // debugging, or the whole model.
  const YamlNode* const hub = find_path(r.root, "hf_transformers.model");
  if (hub != nullptr && hub->kind == YamlNode::Kind::scalar &&
      (flavor == nullptr || flavor->scalar == "full")) {
    r.fields.under("model", *hub, [&] { read_named_model(r, *hub); });
    if (r.draft.model) return;
  }
  // Forks name a model of a hub instead of a flavor.
  if (name != nullptr && flavor == nullptr && name->kind == YamlNode::Kind::scalar)
    r.fields.under("model", *name, [&] { read_named_model(r, *name); });
  if (name == nullptr || flavor == nullptr) return;
  for (const std::span<const TorchtitanFlavor> table :
       {torchtitan_flavors(), old_torchtitan_flavors()})
    for (const TorchtitanFlavor& one : table)
      if (one.name == name->scalar && one.flavor == flavor->scalar)
        r.draft.model = make_flavor_model(one);
  if (!r.draft.model && flavor->scalar.find('/') != std::string::npos)
    r.fields.under("model", *flavor, [&] { read_named_model(r, *flavor); });
  if (!r.draft.model && !read_own_flavor(r, name->scalar, *flavor))
    r.fields.under("model", *flavor, [&] {
      report_left_out(r, *flavor,
                      fmt::format("model: unknown shapes of {} {}: pass --model",
                                  make_excerpt(name->scalar), make_excerpt(flavor->scalar)));
    });
}

/// Returns the stages of a list of module names such as "layers.7"; empty if it is not a list of
/// lists.
plan::Stages read_modules(ForeignReading& r, const YamlNode& list) {
  plan::Stages stages;
  if (!r.fields.expect(list, YamlNode::Kind::sequence, "a list of lists of modules")) return {};
  for (const YamlNode& part : list.items) {
    if (!r.fields.expect(part, YamlNode::Kind::sequence, "a list of modules")) return {};
    plan::Stage stage;
    for (const YamlNode& module : part.items) {
      if (module.scalar.starts_with("layers.")) ++stage.layers;
      if (module.scalar == "tok_embeddings") stage.embedding = true;
      if (module.scalar == "output" || module.scalar == "lm_head") stage.loss = true;
    }
    stages.push_back(stage);
  }
  return i64(stages.size()) > plan::kMaxStages ? plan::Stages{} : stages;
}

/// Reads the schedule from its class name. Returns whether a rank has several chunks.
bool read_schedule(ForeignReading& r) {
  const YamlNode* const node = in_parallelism(r, "pipeline_parallel_schedule");
  r.draft.schedule = pipeline::Schedule::one_f_one_b;
  if (node == nullptr) return false;
  constexpr Word<pipeline::Schedule> kWords[] = {
      {"1F1B", pipeline::Schedule::one_f_one_b},
      {"GPipe", pipeline::Schedule::gpipe},
      {"Interleaved1F1B", pipeline::Schedule::interleaved},
      {"LoopedBFS", pipeline::Schedule::looped_bfs},
      {"InterleavedZeroBubble", pipeline::Schedule::interleaved_zb},
      {"ZBVZeroBubble", pipeline::Schedule::zb_v},
      {"DualPipeV", pipeline::Schedule::dualpipe_v},
      {"PipelineScheduleSingle", pipeline::Schedule::one_f_one_b},
      {"PipelineScheduleMulti", pipeline::Schedule::interleaved},
      {"_PipelineScheduleRuntime", pipeline::Schedule::interleaved},
  };
  // PyTorch compares the names without regard to case.
  YamlNode spelled = *node;
  for (const Word<pipeline::Schedule>& known : kWords)
    if (lower(node->scalar.substr(0, kLongestLabel)) == lower(known.word))
      spelled.scalar = known.word;
  r.fields.under("parallelism.schedule", *node,
                 [&] { r.draft.schedule = parse_word(r, spelled, kWords); });
  return r.draft.schedule && row(*r.draft.schedule).min_chunks > 1;
}

/// Reads a schedule file next to this one and looks for the schedule with its cells.
void read_cells(ForeignReading& r) {
  const YamlNode* const node = in_parallelism(r, "pipeline_parallel_schedule_csv");
  if (node == nullptr || node->scalar.empty()) return;
  Draft& draft = r.draft;
  const std::string path = beside(r.fields.file(), node->scalar);
  const Result<std::string> text = r.files(path);
  const std::optional<pipeline::PipelineShape> shape =
      text ? find_shape(*text, path, *draft.pp, draft.virtual_stages.value_or(1)) : std::nullopt;
  if (shape) {
    draft.schedule = shape->schedule;
    draft.microbatch_group = shape->group == 0 ? draft.pp : shape->group;
    return;
  }
  report_left_out(r, *node,
                  fmt::format("parallelism.pipeline_parallel_schedule_csv: {}: estimated as {}",
                              text ? "it matches no known schedule" : "it was not read",
                              name(draft.schedule.value_or(pipeline::Schedule::one_f_one_b))));
}

void read_pipeline(ForeignReading& r) {
  Draft& draft = r.draft;
  if (draft.pp.value_or(1) == 1) return;
  const i64 pp = *draft.pp;
  i64 stages = pp * (read_schedule(r) ? 2 : 1);
  const i64 first =
      read_stated(r, "parallelism.pipeline_parallel_first_stage_less_layers", 0, kMaxCount)
          .value_or(1);
  const i64 last =
      read_stated(r, "parallelism.pipeline_parallel_last_stage_less_layers", 0, kMaxCount)
          .value_or(1);
  const std::optional<i64> each =
      read_stated(r, "parallelism.pipeline_parallel_layers_per_stage", 1, kMaxCount);
  const bool sane = first <= plan::kMaxStages && last <= plan::kMaxStages;
  if (each && draft.model && sane) stages = ceil_div(draft.model->layers() + first + last, *each);
  if (const YamlNode* const list = in_parallelism(r, "module_fqns_per_model_part")) {
    const plan::Stages parts = read_modules(r, *list);
    if (!parts.empty()) {
      stages = i64(parts.size());
      draft.stages = parts;
    }
  } else if (draft.model && sane) {
    draft.stage_layers = split_like_torchtitan(draft.model->layers(), stages, first, last);
  }
  if (divides(pp, stages) && stages / pp <= kMaxChunks) draft.virtual_stages = stages / pp;
  if (draft.schedule && row(*draft.schedule).groups)
    draft.microbatch_group = torch_group_size(pp, draft.accumulation.value_or(1));
  read_cells(r);
}

/// Reads a YAML config of Primus, which has torchtitan's tables under its own.
void read_primus_torchtitan(PlanFile& plan, const FileReader& files) {
  Result<YamlNode> root = read_python_yaml(plan.text, plan.name, plan.findings);
  if (!root) return plan.findings.push_back(root.error());
  inherit_primus_model(*root, plan.name, files, plan.findings);
  const YamlNode* const overrides = find_path(*root, "modules.pre_trainer.overrides");
  if (overrides == nullptr || overrides->kind != YamlNode::Kind::map) return;
  read_torchtitan_tree(plan, move_renamed_keys(*overrides), files, nullptr);
  const YamlNode* const model = find_path(*root, "modules.pre_trainer.model");
  if (model == nullptr || plan.draft.model) return;
  FieldReader fields(plan.name, plan.findings);
  ForeignReading reading{fields, plan.draft, *root, files};
  fields.under("model", *model, [&] { read_named_model(reading, *model); });
}

}  // namespace

YamlNode move_renamed_keys(const YamlNode& root) {
  constexpr std::pair<std::string_view, std::string_view> kMoved[] = {
      {"training", "data_parallel_replicate_degree"},
      {"training", "data_parallel_shard_degree"},
      {"training", "tensor_parallel_degree"},
      {"experimental", "context_parallel_degree"},
      {"experimental", "pipeline_parallel_degree"},
      {"experimental", "pipeline_parallel_schedule"},
      {"experimental", "pipeline_parallel_microbatches"},
      {"experimental", "pipeline_parallel_schedule_csv"},
      {"experimental", "pipeline_parallel_split_points"},
      {"experimental", "context_parallel_rotate_method"},
      {"experimental", "enable_async_tensor_parallel"},
      {"training", "enable_async_tensor_parallel"}};
  YamlNode moved = root;
  const auto table = [&](std::string_view name) -> YamlNode* {
    for (YamlEntry& entry : moved.entries)
      if (entry.key.scalar == name && entry.value.kind == YamlNode::Kind::map) return &entry.value;
    return nullptr;
  };
  if (moved.kind != YamlNode::Kind::map) return moved;
  if (table("parallelism") == nullptr) {
    YamlNode key, value;
    key.kind = YamlNode::Kind::scalar;
    key.scalar = "parallelism";
    value.kind = YamlNode::Kind::map;
    moved.entries.push_back({std::move(key), std::move(value)});
  }
  for (const std::pair<std::string_view, std::string_view>& one : kMoved) {
    const std::string_view name = one.second;
    YamlNode* const old = table(one.first);
    YamlNode* const today = table("parallelism");
    if (old == nullptr || today == nullptr || today->find(name) != nullptr) continue;
    for (const YamlEntry& entry : old->entries)
      if (entry.key.scalar == name) today->entries.push_back(entry);
    std::erase_if(old->entries, [&](const YamlEntry& entry) { return entry.key.scalar == name; });
  }
  return moved;
}

std::span<const ForeignKey> torchtitan_keys() { return kTorchtitanKeys; }

bool claims_torchtitan(std::string_view file, std::string_view text) {
  if (is_yaml_file(file))
    return text.find("pre_trainer:") != std::string_view::npos &&
           text.find("framework: torchtitan") != std::string_view::npos;
  return (file.ends_with(".toml") || file == "-") &&
         (text.find("[parallelism]") != std::string_view::npos ||
          text.find("[training]") != std::string_view::npos);
}

void read_torchtitan(PlanFile& plan, const FileReader& files) {
  if (is_yaml_file(plan.name)) return read_primus_torchtitan(plan, files);
  const Result<YamlNode> root = read_toml_tree(plan.text, plan.name);
  if (!root) return plan.findings.push_back(root.error());
  read_torchtitan_tree(plan, move_renamed_keys(*root), files, &KnownKeys::find("torchtitan"), true);
}

void read_torchtitan_tree(PlanFile& plan, const YamlNode& tree, const FileReader& files,
                          const KnownKeys* known, bool toml) {
  FieldReader fields(plan.name, plan.findings);
  ForeignReading reading{fields, plan.draft, tree, files};
  reading.known = known;
  Draft& draft = plan.draft;
  draft.cp_comm = plan::CpComm::all_gather;  // defaults of v0.2.2
  draft.recompute = plan::Recompute::selective;
  draft.param_dtype = plan::Dtype::bf16;
  draft.grad_dtype = plan::Dtype::fp32;
  draft.optimizer = plan::Optimizer::adam;
  draft.sequence = 2048;
  read_foreign(reading, kTorchtitanKeys, plan);
  if (toml) report_selective_default(reading);
  read_data_ranks(reading);
  read_torchtitan_batch(reading);
  read_flavor(reading);
  read_pipeline(reading);
  if (draft.ep > 1)  // otherwise experts are split as dense layers are
    draft.etp = read_stated(reading, "parallelism.expert_tensor_parallel_degree", 1, kMaxDegree)
                    .value_or(1);
  const bool dual = draft.pp > 1 && draft.schedule == pipeline::Schedule::dualpipe_v;
  draft.overlap_ep = dual && draft.ep > 1 && draft.overlap_ep.value_or(true);
  if (draft.tp > 1) draft.sequence_parallel = true;
  if (draft.cp.value_or(1) == 1) draft.cp_comm = std::nullopt;
  draft.order = mesh::kDefaultOrder;  // its mesh (pp, dp_replicate, dp_shard, cp, tp), row-major
  draft.framework = find_software(rules::Target::torchtitan_0_2);
  plan.keys = fields.keys();
}

std::string spell_torchtitan(const Edit& edit) {
  if (edit.key == "parallelism.zero_stage" && (edit.value == "2" || edit.value == "3"))
    return fmt::format("parallelism.fsdp_reshard_after_forward = \"{}\"",
                       edit.value == "2" ? "never" : "always");
  if (edit.key == "job.global_batch")
    return fmt::format("training.local_batch_size = {} / data-parallel ranks", edit.value);
  const ForeignKey* const row = find_row_for(kTorchtitanKeys, edit.key);
  return row == nullptr ? "" : fmt::format("{} = {}", row->path, edit.value);
}

namespace {

Diagnostic inconsistent_product(const PlanFile& plan, std::string_view key, std::string detail) {
  return {.code = "RW0604",
          .message = "inconsistent numbers in the file",
          .detail = std::move(detail),
          .key = std::string(key),
          .where = plan.where(key)};
}

}  // namespace

Diagnostics check_resolved_torchtitan(const PlanFile& plan, const plan::TrainingConfig& config) {
  Diagnostics found;
  const Draft& draft = plan.draft;
  if (draft.replicas && !divides(*draft.replicas, config.plan.dp))
    found.push_back(inconsistent_product(
        plan, "parallelism.shard_size",
        fmt::format("data_parallel_replicate_degree {} does not divide {}", *draft.replicas,
                    plural(config.plan.dp, "data-parallel rank", "data-parallel ranks"))));
  const Result<YamlNode> root = read_toml_tree(plan.text, plan.name);
  if (!root || config.plan.pp == 1) return found;
  const YamlNode today = move_renamed_keys(*root);
  const auto number = [&](std::string_view path, i64 usual) {
    const YamlNode* const node = find_path(today, path);
    const Result<i64> n = node == nullptr ? usual : parse_count(node->scalar, 1);
    return n ? *n : usual;
  };
  const i64 local = number("training.local_batch_size", number("training.batch_size", 8));
  if (!divides(config.plan.micro_batch, local))
    found.push_back(inconsistent_product(
        plan, "parallelism.micro_batch",
        fmt::format("pipeline_parallel_microbatch_size {} does not divide local_batch_size {}",
                    count(config.plan.micro_batch), count(local))));
  const i64 batch = number("training.global_batch_size", config.job.global_batch);
  if (batch != config.job.global_batch)
    found.push_back(
        {.code = "RW0601",
         .severity = Severity::warning,
         .message = "the estimate does not include this setting",
         .detail = fmt::format("training.global_batch_size: {} sequences need several passes "
                               "through the pipeline; the plan estimates one of {}",
                               count(batch), count(config.job.global_batch)),
         .key = "job.global_batch",
         .where = plan.where("job.global_batch")});
  return found;
}

}  // namespace rankwright::importer
