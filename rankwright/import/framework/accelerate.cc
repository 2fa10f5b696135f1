// Reads accelerate's YAML config (checked against accelerate 1.15 dev): FSDP, DDP, its
// ParallelismConfig, and the settings of its DeepSpeed and Megatron-LM backends. A DeepSpeed config
// that the file names is read too.
#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/import/framework/deepspeed.h"
#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/syntax/json_tree.h"

namespace rankwright::importer {
namespace {

/// Megatron-LM's flag of this name recomputes the attention core.
void read_megatron_recompute(ForeignReading& r, const YamlNode& node) {
  if (const std::optional<bool> on = r.fields.flag(node))
    r.draft.recompute = *on ? plan::Recompute::selective : plan::Recompute::none;
}

/// torch's ring: KV is rotated by all-to-all, or gathered once.
void read_cp_comm_strategy(ForeignReading& r, const YamlNode& node) {
  constexpr Word<plan::CpComm> kWords[] = {{"allgather", plan::CpComm::all_gather},
                                           {"alltoall", plan::CpComm::p2p}};
  r.draft.cp_comm = parse_word(r, node, kWords);
}

/// Only Inductor makes other kernels.
void read_dynamo_backend(ForeignReading& r, const YamlNode& node) {
  if (lower(node.scalar.substr(0, kLongestLabel)) == "inductor") r.draft.compile = true;
}

/// Reads the accumulation; "auto" leaves it to the program.
void read_accumulation(ForeignReading& r, const YamlNode& node) {
  if (node.scalar != "auto") r.draft.accumulation = r.fields.whole(node, 1, plan::kMaxBatch);
}

constexpr ForeignKey kAccelerateKeys[] = {
    {"num_processes", "world_size", whole<&Draft::world, cluster::kMaxDevices>, true},
    {"num_machines", "node_shape"},
    {"distributed_type", "parallelism.zero_stage"},
    {"mixed_precision", "job.param_dtype"},
    {"dynamo_config.dynamo_backend", "software.compile", read_dynamo_backend},
    {"dynamo_backend", "software.compile", read_dynamo_backend},
    {"tp_config.tp_size", "parallelism.tp_size", whole<&Draft::tp, kMaxDegree>},
    {"parallelism_config.parallelism_config_tp_size", "parallelism.tp_size",
     whole<&Draft::tp, kMaxDegree>, true},
    {"parallelism_config.parallelism_config_cp_size", "parallelism.cp_size",
     whole<&Draft::cp, kMaxContext>, true},
    {"parallelism_config.parallelism_config_cp_comm_strategy", "parallelism.cp_comm",
     read_cp_comm_strategy},
    {"parallelism_config.parallelism_config_sp_size", "parallelism.cp_size"},
    {"parallelism_config.parallelism_config_dp_shard_size", "parallelism.dp_size"},
    {"parallelism_config.parallelism_config_dp_replicate_size", "parallelism.shard_size"},
    {"fsdp_config.fsdp_version", ""},
    {"fsdp_config.fsdp_reshard_after_forward", "parallelism.zero_stage"},
    {"fsdp_config.fsdp_sharding_strategy", "parallelism.zero_stage"},
    {"fsdp_config.fsdp_activation_checkpointing", "parallelism.recompute"},
    {"gradient_accumulation_steps", "job.global_batch", read_accumulation},
    {"fsdp_config.fsdp_offload_params", "parallelism.offload.parameters"},
    {"deepspeed_config.zero_stage", "parallelism.zero_stage"},
    {"deepspeed_config.gradient_accumulation_steps", "job.global_batch", read_accumulation},
    {"deepspeed_config.offload_optimizer_device", "parallelism.offload.optimizer",
     read_offload_optimizer},
    {"deepspeed_config.offload_param_device", "parallelism.offload.parameters",
     read_offload_parameters},
    {"deepspeed_config.offload_optimizer_nvme_path", "parallelism.offload.nvme_path",
     read_nvme_path},
    {"deepspeed_config.offload_param_nvme_path", "parallelism.offload.nvme_path", read_nvme_path},
    {"deepspeed_config.deepspeed_config_file", ""},
    {"megatron_lm_config.megatron_lm_tp_degree", "parallelism.tp_size",
     whole<&Draft::tp, kMaxDegree>},
    {"megatron_lm_config.megatron_lm_pp_degree", "parallelism.pp_size",
     whole<&Draft::pp, kMaxDegree>},
    {"megatron_lm_config.megatron_lm_num_micro_batches", "job.global_batch",
     whole<&Draft::accumulation, plan::kMaxBatch>},
    {"megatron_lm_config.megatron_lm_sequence_parallelism", "parallelism.sequence_parallel"},
    {"megatron_lm_config.megatron_lm_recompute_activations", "parallelism.recompute",
     read_megatron_recompute},
    {"megatron_lm_config.megatron_lm_use_distributed_optimizer", "parallelism.zero_stage"},
    {"megatron_lm_config", ""},
    {"fp8_config", "", nullptr, false, "the library's default scaling is assumed"},
};

/// An option of `accelerate launch`, and the place of its value in a config.
struct LaunchOption {
  std::string_view flag;
  std::string_view path;
  std::string_view value{};  // that a switch stands for
};
constexpr LaunchOption kLaunchOptions[] = {
    {"num_processes", "num_processes"},
    {"num_machines", "num_machines"},
    {"mixed_precision", "mixed_precision"},
    {"use_deepspeed", "distributed_type", "DEEPSPEED"},
    {"use_fsdp", "distributed_type", "FSDP"},
    {"zero_stage", "deepspeed_config.zero_stage"},
    {"deepspeed_config_file", "deepspeed_config.deepspeed_config_file"},
    {"offload_optimizer_device", "deepspeed_config.offload_optimizer_device"},
    {"offload_param_device", "deepspeed_config.offload_param_device"},
    {"fsdp_sharding_strategy", "fsdp_config.fsdp_sharding_strategy"},
    {"fsdp_reshard_after_forward", "fsdp_config.fsdp_reshard_after_forward"},
    {"fsdp_offload_params", "fsdp_config.fsdp_offload_params"},
};

std::optional<i64> degree(ForeignReading& r, std::string_view name) {
  return read_whole_at(r, fmt::format("parallelism_config.parallelism_config_{}", name), 1,
                       kMaxDegree);
}

/// A sharding strategy of FSDP1; FSDP2 has reshard_after_forward instead.
struct Strategy {
  int zero;
  bool hybrid;  // shards within a machine
};

void read_fsdp(ForeignReading& r, i64 machines) {
  constexpr Word<Strategy> kWords[] = {{"true", {3, false}},
                                       {"false", {2, false}},
                                       {"FULL_SHARD", {3, false}},
                                       {"SHARD_GRAD_OP", {2, false}},
                                       {"NO_SHARD", {0, false}},
                                       {"HYBRID_SHARD", {3, true}},
                                       {"HYBRID_SHARD_ZERO2", {2, true}},
                                       {"1", {3, false}},
                                       {"2", {2, false}},
                                       {"3", {0, false}},
                                       {"4", {3, true}},
                                       {"5", {2, true}}};
  const YamlNode* node = find_path(r.root, "fsdp_config.fsdp_reshard_after_forward");
  if (node == nullptr) node = find_path(r.root, "fsdp_config.fsdp_sharding_strategy");
  r.draft.zero = 3;  // accelerate's default
  if (const YamlNode* const all = find_path(r.root, "fsdp_config.fsdp_offload_params"))
    read_offload_all(r, *all);
  if (const YamlNode* const again = find_path(r.root, "fsdp_config.fsdp_activation_checkpointing"))
    if (const std::optional<bool> on = r.fields.flag(*again))
      r.draft.recompute = *on ? plan::Recompute::full : plan::Recompute::none;
  if (node == nullptr) return;
  const std::optional<Strategy> strategy = parse_word(r, *node, kWords);
  if (!strategy) return;
  r.draft.zero = strategy->zero;
  if (strategy->hybrid && machines > 1) r.draft.replicas = machines;
}

/// FSDP reduces gradients in the format in which parameters are gathered; DDP keeps both in fp32
/// and casts at each matmul.
void read_precision(ForeignReading& r) {
  constexpr Word<plan::Dtype> kWords[] = {{"no", plan::Dtype::fp32},
                                          {"false", plan::Dtype::fp32},
                                          {"bf16", plan::Dtype::bf16},
                                          {"fp16", plan::Dtype::fp16},
                                          {"fp8", plan::Dtype::bf16}};
  const YamlNode* const node = find_path(r.root, "mixed_precision");
  if (node == nullptr) return;
  r.draft.param_dtype = parse_word(r, *node, kWords);
  if (node->scalar == "fp8") r.draft.matmul = plan::Matmul::fp8;
  r.draft.grad_dtype = r.draft.zero > 0 ? r.draft.param_dtype : plan::Dtype::fp32;
}

void read_machines(ForeignReading& r, i64 machines) {
  constexpr i64 kMaxGpus = 4096;  // limit of node_shape
  if (!r.draft.world || machines < 1 || !divides(machines, *r.draft.world)) return;
  const i64 gpus = *r.draft.world / machines;
  if (gpus <= kMaxGpus) r.draft.shape = NodeShape{machines, gpus};
}

/// The library that accelerate runs the model with.
enum class Backend { fsdp, ddp, deepspeed, megatron };

Backend read_type(ForeignReading& r) {
  constexpr Word<Backend> kWords[] = {{"FSDP", Backend::fsdp},
                                      {"MULTI_GPU", Backend::ddp},
                                      {"MULTI_CPU", Backend::ddp},
                                      {"MULTI_XPU", Backend::ddp},
                                      {"MULTI_NPU", Backend::ddp},
                                      {"MULTI_MLU", Backend::ddp},
                                      {"MULTI_HPU", Backend::ddp},
                                      {"TP", Backend::ddp},  // of transformers: `tp_config`
                                      {"NO", Backend::ddp},
                                      {"no", Backend::ddp},
                                      {"DEEPSPEED", Backend::deepspeed},
                                      {"MEGATRON_LM", Backend::megatron}};
  const YamlNode* const node = find_path(r.root, "distributed_type");
  if (node == nullptr) return Backend::ddp;
  return parse_word(r, *node, kWords).value_or(Backend::ddp);
}

bool is_true_at(ForeignReading& r, std::string_view path) {
  const YamlNode* const node = find_path(r.root, path);
  return node != nullptr && r.fields.flag(*node) == true;
}

/// Follows deepspeed_config_file, which then has all of DeepSpeed's settings; without it the stage
/// is 2, accelerate's default.
void read_deepspeed_backend(ForeignReading& r, PlanFile& plan) {
  r.draft.target = rules::Target::deepspeed;
  r.draft.framework = find_software(rules::Target::deepspeed);
  const YamlNode* const stage = find_path(r.root, "deepspeed_config.zero_stage");
  constexpr Word<int> kStages[] = {{"0", 0}, {"1", 1}, {"2", 2}, {"3", 3}};
  r.draft.zero = stage == nullptr ? 2 : parse_word(r, *stage, kStages);
  r.draft.overlap_grad = r.draft.zero == 3;  // DeepSpeed's default
  const YamlNode* const named = find_path(r.root, "deepspeed_config.deepspeed_config_file");
  if (named == nullptr) return;
  if (!follow_deepspeed_config(r, *named, plan))
    report_left_out(r, *named,
                    fmt::format("deepspeed_config_file: {} cannot be read as a DeepSpeed config",
                                make_excerpt(named->scalar)));
}

void read_megatron_backend(ForeignReading& r) {
  r.draft.target = rules::Target::megatron;
  r.draft.framework = find_software(rules::Target::megatron);
  r.draft.zero = is_true_at(r, "megatron_lm_config.megatron_lm_use_distributed_optimizer") ? 1 : 0;
  r.draft.sequence_parallel = is_true_at(r, "megatron_lm_config.megatron_lm_sequence_parallelism");
  r.draft.etp = r.draft.tp.value_or(1);
}

/// Reads the degrees of accelerate's own mesh.
void read_mesh(ForeignReading& r) {
  Draft& draft = r.draft;
  if (const std::optional<i64> ulysses = degree(r, "sp_size"); ulysses > 1) {
    draft.cp = ulysses;
    draft.cp_comm = plan::CpComm::a2a;
  }
  if (draft.cp > 1 && !draft.cp_comm)
    draft.cp_comm = plan::CpComm::all_gather;  // accelerate's default
  const std::optional<i64> shards = degree(r, "dp_shard_size");
  const std::optional<i64> replicas = degree(r, "dp_replicate_size");
  const std::optional<i64> dp = product({shards.value_or(1), replicas.value_or(1)});
  if ((shards || replicas) && dp && *dp <= kMaxDegree) draft.dp = dp;
  if (replicas > 1 && draft.zero > 0) draft.replicas = replicas;
}

/// Adds the prefix that settings of FSDP may leave out (accelerate/commands/launch.py).
void add_fsdp_prefix(YamlNode& root) {
  const KnownKeys& known = KnownKeys::find("accelerate");
  for (YamlEntry& entry : root.entries) {
    if (entry.key.scalar != "fsdp_config") continue;
    for (YamlEntry& setting : entry.value.entries) {
      const std::string name = "fsdp_" + setting.key.scalar;
      const std::string path = "fsdp_config." + name;
      const bool has_name =
          setting.key.scalar.find("fsdp") != std::string::npos || entry.value.find(name) != nullptr;
      if (!has_name && (has_row(kAccelerateKeys, path) || known.contains(path)))
        setting.key.scalar = name;
    }
  }
}

/// Removes the section of DeepSpeed from a config of another type, which accelerate does not use.
void drop_unused_deepspeed(YamlNode& root, const std::string& file, Diagnostics& findings) {
  const YamlNode* const type = root.find("distributed_type");
  const YamlNode* const section = root.find("deepspeed_config");
  if (type == nullptr || type->scalar == "DEEPSPEED" || section == nullptr) return;
  if (!is_off(*section) && !is_null(*section))
    findings.push_back({.code = "RW0601",
                        .severity = Severity::warning,
                        .message = "the estimate does not include this setting",
                        .detail = fmt::format("deepspeed_config: accelerate does not use it with "
                                              "distributed_type {}",
                                              make_excerpt(type->scalar)),
                        .where = location(*section, file)});
  std::erase_if(root.entries,
                [](const YamlEntry& entry) { return entry.key.scalar == "deepspeed_config"; });
}

/// A config without `mixed_precision` leaves the number format to the program: accelerate's default
/// is fp32. DeepSpeed's own config states it.
void assume_precision(ForeignReading& r, PlanFile& plan) {
  Draft& d = r.draft;
  if (d.param_dtype || d.target || find_path(r.root, "mixed_precision") != nullptr) return;
  constexpr const char* kHint = "set mixed_precision";
  d.param_dtype = d.grad_dtype = plan::Dtype::fp32;
  plan.open.push_back({"job.param_dtype", "fp32", kHint});
  r.fields.report(r.root, make_assumption("fp32, accelerate's default of mixed_precision: the "
                                          "program may set another",
                                          kHint));
}

/// Fills the draft from a config of accelerate, and records locations in `plan`.
void read_accelerate_tree(ForeignReading& reading, PlanFile& plan) {
  Draft& draft = reading.draft;
  read_foreign(reading, kAccelerateKeys, plan);
  const i64 machines = read_whole_at(reading, "num_machines", 1, cluster::kMaxDevices).value_or(1);
  read_machines(reading, machines);
  draft.sequence_parallel = false;
  draft.framework = find_software(rules::Target::accelerate);
  const Backend backend = read_type(reading);
  if (backend == Backend::fsdp) read_fsdp(reading, machines);
  if (backend == Backend::ddp) draft.zero = 0;
  if (backend == Backend::megatron) read_megatron_backend(reading);
  if (backend == Backend::deepspeed) read_deepspeed_backend(reading, plan);
  read_precision(reading);
  read_mesh(reading);
  draft.order = mesh::kDefaultOrder;  // its mesh (dp_replicate, dp_shard, cp, tp), row-major
}

}  // namespace

bool claims_accelerate(std::string_view file, std::string_view text) {
  return (file.ends_with(".yaml") || file.ends_with(".yml") || file == "-") &&
         text.find("distributed_type:") != std::string_view::npos;
}

void read_accelerate(PlanFile& plan, const FileReader& files) {
  Result<YamlNode> root = read_python_yaml(plan.text, plan.name, plan.findings);
  if (!root) return plan.findings.push_back(root.error());
  add_fsdp_prefix(*root);
  drop_unused_deepspeed(*root, plan.name, plan.findings);
  FieldReader fields(plan.name, plan.findings);
  ForeignReading reading{fields, plan.draft, *root, files};
  reading.known = &KnownKeys::find("accelerate");
  read_accelerate_tree(reading, plan);
  assume_precision(reading, plan);
  plan.keys = fields.keys();
}

namespace {

/// Takes a config that cannot be read as one of FSDP, by its name.
void assume_fsdp(Draft& draft, const YamlNode& config, PlanFile& plan) {
  constexpr const char* kHint = "put accelerate's config beside the script";
  draft.zero = 3;
  plan.open.push_back({"parallelism.zero_stage", "FSDP with full shards", kHint});
  plan.findings.push_back(
      make_assumption(fmt::format("FSDP with full shards, by its name: {} cannot be read",
                                  make_path_excerpt(config.scalar)),
                      kHint, location(config, plan.name)));
}

}  // namespace

std::optional<Draft> read_accelerate_launch(const ScriptFlags& flags, const FileReader& files,
                                            PlanFile& plan) {
  YamlNode root;
  root.kind = YamlNode::Kind::map;
  const YamlNode* config = flags.map.find("config_file");
  YamlNode unknown;  // the name is that of a file that only a running shell knows
  for (const ScriptFlags::Unknown& one : flags.unknown)
    if (config == nullptr && one.flag == "config_file") {
      unknown = one.place;
      unknown.scalar = "$" + one.variable;
      config = &unknown;
    }
  const Result<std::string> text =
      config == nullptr ? refuse_file("") : read_named_config(files, plan.name, config->scalar);
  Diagnostics ignored;
  if (const Result<YamlNode> read = text ? read_python_yaml(*text, config->scalar, ignored)
                                         : Result<YamlNode>(fail(text.error())))
    root = *read;
  add_fsdp_prefix(root);
  drop_unused_deepspeed(root, config == nullptr ? plan.name : config->scalar, ignored);
  const bool unread = config != nullptr && root.entries.empty();
  bool stated = !root.entries.empty();
  for (const LaunchOption& option : kLaunchOptions)
    if (const YamlNode* const node = flags.map.find(option.flag);
        node != nullptr && (option.value.empty() || !is_off(*node))) {
      YamlNode value = *node;
      if (!option.value.empty()) value.scalar = option.value;
      set_path(root, option.path, value);
      stated = true;
    }
  if (!stated && !unread) return std::nullopt;
  PlanFile launched;
  launched.name = text ? config->scalar : plan.name;
  FieldReader fields(launched.name, launched.findings);
  ForeignReading reading{fields, launched.draft, root, files};
  const bool fsdp = unread && lower(config->scalar).find("fsdp") != std::string::npos;
  const bool by_name = unread && !fsdp && follow_deepspeed_config(reading, *config, launched);
  if (unread && !by_name && !fsdp) {
    constexpr const char* kHint = "put accelerate's config beside the script";
    plan.open.push_back({"parallelism.zero_stage", "no ZeRO", kHint});
    plan.findings.push_back(make_assumption(
        fmt::format("how states are sharded: {} cannot be read", make_path_excerpt(config->scalar)),
        kHint, location(*config, plan.name)));
  }
  if (!by_name && stated) read_accelerate_tree(reading, launched);
  if (fsdp) assume_fsdp(launched.draft, *config, plan);
  plan.findings.insert(plan.findings.end(), launched.findings.begin(), launched.findings.end());
  return launched.draft;
}

std::string spell_accelerate(const Edit& edit) {
  if (edit.key == "parallelism.zero_stage" && (edit.value == "2" || edit.value == "3"))
    return fmt::format("fsdp_config.fsdp_reshard_after_forward: {}",
                       edit.value == "2" ? "false" : "true");
  const ForeignKey* const row = find_row_for(kAccelerateKeys, edit.key);
  return row == nullptr ? "" : fmt::format("{}: {}", row->path, edit.value);
}

Diagnostics check_resolved_accelerate(const PlanFile& plan, const plan::TrainingConfig& config) {
  const Draft& draft = plan.draft;
  if (!draft.replicas || divides(*draft.replicas, config.plan.dp)) return {};
  return {
      {.code = "RW0604",
       .message = "inconsistent numbers in the file",
       .detail = fmt::format("{} do not divide {}", plural(*draft.replicas, "replica", "replicas"),
                             plural(config.plan.dp, "data-parallel rank", "data-parallel ranks")),
       .key = "parallelism.shard_size",
       .where = plan.where("parallelism.shard_size")}};
}

}  // namespace rankwright::importer
