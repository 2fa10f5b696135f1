// Reads MaxText's configs, which state a model's shapes, the batch per device, and the axes of the
// mesh within a slice and across slices. Launch scripts override a config (`key=value`), which lies
// over base.yml; the file of a named model lies between them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/import/framework/script_report.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/recipe/pretraining_parts.h"

namespace rankwright::importer {
namespace {

void read_jax_optimizer(ForeignReading& r, const YamlNode& node) {
  if (node.scalar.find("adam") == std::string::npos)
    report_left_out(r, node, "opt_type: estimated with Adam's states");
}

/// Reads the heads as they were named until the end of 2023, before queries and keys had their own.
void read_old_heads(ForeignReading& r, const YamlNode& node) {
  if (const std::optional<i64> heads = r.fields.whole(node, 1, kMaxCount))
    r.shapes.heads = r.shapes.kv_heads = *heads;
}

/// -1 drops no tokens.
void read_maxtext_capacity(ForeignReading& r, const YamlNode& node) {
  constexpr double kMax = 100;
  const std::optional<double> capacity = r.fields.number(node, -1, kMax);
  if (capacity > 0) r.draft.expert_capacity = capacity;
}

/// An axis of a mesh that the estimate has under another one.
void read_merged_axis(ForeignReading& r, const YamlNode& node, std::string_view axis,
                      std::string_view as) {
  if (node.scalar == "1") return;
  report_left_out(r, node, fmt::format("the axis `{}`: estimated as {}", axis, as));
}
void read_transposed_tensor(ForeignReading& r, const YamlNode& node) {
  read_merged_axis(r, node, "tensor_transpose", "tensor parallelism over one axis");
}
void read_sequence_axis(ForeignReading& r, const YamlNode& node) {
  read_merged_axis(r, node, "sequence", "context parallelism");
}

void read_sliding_window(ForeignReading& r, const YamlNode& node) {
  if (node.scalar != "0")
    report_left_out(r, node, "sliding_window_size: attention is estimated over whole sequences");
}

void read_vocabulary_tiles(ForeignReading& r, const YamlNode& node) {
  if (node.scalar != "1")
    report_left_out(r, node, "num_vocab_tiling: logits are counted as a whole");
}

/// The key that marks that the file of the model's name was read, and a name that is not known.
constexpr std::string_view kModelFile = "(model file)", kUnknownName = "unknown";

/// Whether a config lies over base.yml, and whether that could be read.
struct BaseConfig {
  bool below = false, read = false;
  std::string_view usual{};  // a config over base.yml whose settings are assumed
};
constexpr std::string_view kBaseName = "base.yml", kRlName = "rl.yml";

constexpr std::string_view kOnlyStudent = "only the trained model is counted, without its teacher";

constexpr ForeignKey kMaxtextKeys[] = {
    {"model_name", "model"},
    {"base_emb_dim", "model", shape<&model::Shapes::hidden>},
    {"base_num_query_heads", "model", shape<&model::Shapes::heads>},
    {"base_num_kv_heads", "model", shape<&model::Shapes::kv_heads>},
    {"base_num_heads", "model", read_old_heads},
    {"base_num_decoder_layers", "model", shape<&model::Shapes::layers>},
    {"base_mlp_dim", "model", shape<&model::Shapes::ffn>},
    {"head_dim", "model", shape<&model::Shapes::head_dim>},
    {"vocab_size", "model", shape<&model::Shapes::vocab>},
    {"num_experts", "model"},
    {"decoder_block", "model"},
    {"mlp_activations", "model"},
    {"logits_via_embedding", "model"},
    {"global_parameter_scale", "model"},
    {"scale", "model"},
    {"mtp_num_layers", "model"},
    {"num_experts_per_tok", "model"},
    {"base_moe_mlp_dim", "model"},
    {"sparse_matmul", "job.expert_capacity"},
    {"megablox", "job.expert_capacity"},
    {"sliding_window_size", "", read_sliding_window},
    {"num_vocab_tiling", "", read_vocabulary_tiles},
    {"use_dpo", "", nullptr, false, "estimated without its pairs and its reference model"},
    {"optimizer_memory_host_offload", "parallelism.offload.optimizer", read_offload_optimizer},
    {"parameter_memory_host_offload", "parallelism.offload.parameters", read_offload_parameters},
    {"nodes", "node_shape"},
    {"gpus-per-node", "node_shape"},
    {"max_target_length", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"per_device_batch_size", "job.global_batch"},
    {"gradient_accumulation_steps", "job.global_batch"},
    {"num_pipeline_microbatches", "parallelism.micro_batch"},
    {"dtype", "job.param_dtype", read_trainer_dtype},
    {"grad_dtype", "job.grad_dtype"},
    {"weight_dtype", "job.master_dtype"},
    {"mu_dtype", "job.moment_dtype"},
    {"capacity_factor", "job.expert_capacity", read_maxtext_capacity},
    {"remat_policy", "parallelism.recompute"},
    {"attention", "software.attention"},
    {"shard_optimizer_over_data", "parallelism.zero_stage"},
    {"use_multimodal", "", nullptr, false, "only the language model is estimated"},
    {"use_audio", "", nullptr, false, "only the language model is estimated"},
    {"opt_type", "job.optimizer", read_jax_optimizer},
    {"use_kd", "", nullptr, false, kOnlyStudent},
    {"teacher_overrides", "", nullptr, false, kOnlyStudent},
    {"quantization", "", nullptr, false, "matmuls are estimated in the format of the parameters"},
    {"ici_tensor_parallelism", "parallelism.tp_size"},
    {"ici_tensor_transpose_parallelism", "parallelism.tp_size", read_transposed_tensor},
    {"dcn_tensor_transpose_parallelism", "parallelism.tp_size", read_transposed_tensor},
    {"ici_tensor_sequence_parallelism", "parallelism.tp_size"},
    {"ici_sequence_parallelism", "parallelism.cp_size", read_sequence_axis},
    {"dcn_sequence_parallelism", "parallelism.cp_size", read_sequence_axis},
    {"ici_pipeline_parallelism", "parallelism.pp_size"},
    {"ici_context_parallelism", "parallelism.cp_size"},
    {"ici_expert_parallelism", "parallelism.ep_size"},
    {"ici_data_parallelism", "parallelism.dp_size"},
    {"ici_fsdp_parallelism", "parallelism.dp_size"},
    {"ici_fsdp_transpose_parallelism", "parallelism.dp_size"},
    {"dcn_data_parallelism", "parallelism.shard_size"},
    {"dcn_fsdp_parallelism", "parallelism.dp_size"},
    {"dcn_tensor_parallelism", "parallelism.tp_size"},
    {"dcn_pipeline_parallelism", "parallelism.pp_size"},
};

/// Returns the product of an axis within and across slices; nothing if one of them is -1, the rest.
std::optional<i64> read_axis(ForeignReading& r, std::string_view axis) {
  i64 all = 1;
  for (const char* const level : {"ici", "dcn"}) {
    const std::string path = fmt::format("{}_{}_parallelism", level, axis);
    if (word_at(r, path) == "-1") return std::nullopt;
    const std::optional<i64> more =
        product({all, read_whole_at(r, path, 1, kMaxDegree).value_or(1)});
    if (!more || *more > kMaxDegree) return std::nullopt;
    all = *more;
  }
  return all;
}

/// Returns the product of axes; nothing if one of them is -1.
std::optional<i64> multiply_axes(ForeignReading& r, std::initializer_list<std::string_view> axes) {
  std::optional<i64> all = 1;
  for (const std::string_view axis : axes) {
    const std::optional<i64> more = read_axis(r, axis);
    all = all && more ? std::optional(std::min(*all * *more, kMaxDegree)) : std::nullopt;
  }
  return all;
}

/// The batch of a device counts all devices: a data rank of several devices has as many batches.
void read_device_batch(ForeignReading& r) {
  Draft& d = r.draft;
  const Result<double> each = [&]() -> Result<double> {
    const YamlNode* const node = find_path(r.root, "per_device_batch_size");
    if (node == nullptr) return 12.0;
    const std::optional<double> n = r.fields.number(*node, 0, double(kMaxMicroBatch));
    return n ? *n : 1.0;
  }();
  const i64 devices = product({d.tp.value_or(1), d.cp.value_or(1), d.pp.value_or(1)}).value_or(1);
  d.accumulation = read_whole_at(r, "gradient_accumulation_steps", 1, plan::kMaxBatch).value_or(1);
  d.micro_batch = std::clamp<i64>(i64(std::llround(*each * double(devices))), 1, kMaxMicroBatch);
  // A pipeline splits it into as many parts as it has stages, unless their number is stated.
  const std::optional<i64> stated =
      word_at(r, "num_pipeline_microbatches") == "-1"
          ? std::nullopt
          : read_whole_at(r, "num_pipeline_microbatches", 1, kMaxMicroBatch);
  const i64 parts = stated.value_or(d.pp.value_or(1));
  if (d.pp.value_or(1) == 1 || !divides(parts, *d.micro_batch)) return;
  *d.micro_batch /= parts;
  d.accumulation = std::min(*d.accumulation * parts, plan::kMaxBatch);
}

/// Scales the shapes of a model. `global_parameter_scale`, a power of two, doubles heads and width
/// of the MLP, then the embedding, then the layers, and so on (MaxText's get_individual_scales);
/// `scale` of 2023 multiplies them all.
void scale_shapes(ForeignReading& r) {
  constexpr i64 kLargest = i64{1} << 16;
  model::Shapes& s = r.shapes;
  const i64 scale = read_whole_at(r, "global_parameter_scale", 1, kLargest).value_or(1);
  int doublings = 0;
  while (scale >> (doublings + 1) > 0) ++doublings;
  const i64 all = read_whole_at(r, "scale", 1, kLargest).value_or(1);
  const auto times = [&](i64& value, int n) {
    value = std::min(std::min(value, kMaxCount >> n) << n, kMaxCount / all) * all;
  };
  for (i64* const value : {&s.heads, &s.kv_heads, &s.ffn}) times(*value, (doublings + 2) / 3);
  times(s.hidden, (doublings + 1) / 3);
  times(s.layers, doublings / 3);
}

/// Sets a known model with the shapes that the config overrides: its layers. Others are reported.
void override_model(ForeignReading& r, model::Model known) {
  constexpr const char* kShapes[] = {"base_emb_dim",      "base_num_query_heads",
                                     "base_num_kv_heads", "base_mlp_dim",
                                     "head_dim",          "num_experts"};
  if (is_on_at_path(r, "override_model_config")) {
    if (r.shapes.layers > 0 && r.shapes.layers <= model::kMaxLayers && known.runs.size() == 1)
      known.runs[0].count = r.shapes.layers;
    else if (const YamlNode* const layers = find_path(r.root, "base_num_decoder_layers"))
      report_left_out(r, *layers, "estimated with all layers of the named model");
    for (const char* const key : kShapes)
      if (const YamlNode* const shape = find_path(r.root, key))
        report_left_out(r, *shape, fmt::format("{}: estimated with the named model's", key));
  } else if (const YamlNode* const layers = find_path(r.root, "base_num_decoder_layers");
             layers != nullptr && layers->scalar != std::to_string(known.layers())) {
    report_left_out(r, *layers,
                    "base_num_decoder_layers beside model_name, without override_model_config: "
                    "estimated with the named model's shapes");
  }
  known.mtp_layers = read_whole_at(r, "mtp_num_layers", 0, model::kMaxLayers).value_or(0);
  r.draft.model = std::move(known);
}

/// A kind of layers, and the architecture that has the same matrices.
struct DecoderBlock {
  std::string_view name, architecture;
};
constexpr DecoderBlock kDecoderBlocks[] = {
    {"", "llama"},      {"default", "llama"}, {"llama2", "llama"},    {"mistral", "llama"},
    {"gemma", "llama"}, {"gemma2", "llama"},  {"mixtral", "mixtral"}, {"qwen3", "qwen3"},
};

constexpr DecoderBlock kSparseBlocks[] = {{"mixtral", "mixtral"}, {"qwen3_moe", "qwen3_moe"}};
/// Blocks of MaxText whose layers with experts have shapes that are not read.
constexpr std::string_view kOtherSparseBlocks[] = {"deepseek", "llama4", "gpt_oss", "qwen3_next"};

/// Returns the architecture of the layers; reports one that is unknown here.
std::string_view find_architecture(ForeignReading& r, bool sparse) {
  const std::string block = word_at(r, "decoder_block");
  const std::span<const DecoderBlock> rows =
      sparse ? std::span<const DecoderBlock>(kSparseBlocks) : kDecoderBlocks;
  for (const DecoderBlock& row : rows)
    if (row.name == block) return row.architecture;
  const YamlNode* const stated = find_path(r.root, "decoder_block");
  report_left_out(
      r, stated == nullptr ? r.root : *stated,
      fmt::format("decoder_block {}: estimated as layers of {}",
                  block.empty() ? "default" : make_excerpt(block), sparse ? "Mixtral" : "Llama"));
  return rows.front().architecture;
}

/// Reads experts; returns false if their layers are of a kind that is not read, which is reported.
bool read_maxtext_experts(ForeignReading& r, i64 experts) {
  const std::string block = word_at(r, "decoder_block");
  if (std::find(std::begin(kOtherSparseBlocks), std::end(kOtherSparseBlocks), block) !=
      std::end(kOtherSparseBlocks)) {
    report_left_out(r, *find_path(r.root, "decoder_block"),
                    fmt::format("decoder_block {}: its layers are not read: pass --model",
                                make_excerpt(block)));
    return false;
  }
  model::Shapes& s = r.shapes;
  s.experts = experts;
  s.active_experts = read_whole_at(r, "num_experts_per_tok", 1, experts).value_or(1);
  s.expert_ffn = read_whole_at(r, "base_moe_mlp_dim", 1, kMaxCount).value_or(s.ffn);
  return true;
}

/// A shape of the model that base.yml states if no other one is named.
struct UsualShape {
  i64 model::Shapes::*shape;
  i64 value;
};
constexpr UsualShape kUsualShapes[] = {
    {&model::Shapes::hidden, 2048},  {&model::Shapes::heads, 16}, {&model::Shapes::kv_heads, 16},
    {&model::Shapes::head_dim, 128}, {&model::Shapes::ffn, 7168}, {&model::Shapes::layers, 16},
    {&model::Shapes::vocab, 32000},
};

/// Fills in the shapes that base.yml states, which a config lies over.
void assume_base_shapes(ForeignReading& r) {
  model::Shapes& s = r.shapes;
  if (s.hidden == 0 || s.heads == 0 || s.layers == 0)
    r.fields.report(r.root, make_assumption("shapes that are not stated are those of MaxText's "
                                            "base.yml, a model of 1.1 B parameters",
                                            "put base.yml beside the file, or pass --model"));
  for (const UsualShape& usual : kUsualShapes)
    if (s.*usual.shape == 0) s.*usual.shape = usual.value;
}

/// Builds the model from the shapes of the config. `over_base` says that it lies over base.yml.
void read_stated_shapes(ForeignReading& r, bool over_base) {
  model::Shapes& s = r.shapes;
  if (s.kv_heads == 0) s.kv_heads = s.heads;
  if (over_base) assume_base_shapes(r);
  for (const UsualShape& usual : kUsualShapes)  // whatever the other shapes are
    if (usual.shape == &model::Shapes::head_dim || usual.shape == &model::Shapes::vocab)
      if (s.*usual.shape == 0) s.*usual.shape = usual.value;
  if (s.hidden == 0) return;
  scale_shapes(r);
  s.tied = is_on_at_path(r, "logits_via_embedding");
  s.mtp_layers = read_whole_at(r, "mtp_num_layers", 0, model::kMaxLayers).value_or(0);
  // One of its layers is a local and a global one of Gemma 2.
  if (word_at(r, "decoder_block") == "gemma2" && s.layers <= model::kMaxLayers) s.layers *= 2;
  // One activation is that of a layer of two matrices, two are those of a gated one.
  const YamlNode* const activations = find_path(r.root, "mlp_activations");
  if (activations != nullptr && activations->items.size() == 1) s.gated = false;
  const i64 experts = read_whole_at(r, "num_experts", 1, kMaxCount).value_or(1);
  if (experts > 1 && !read_maxtext_experts(r, experts)) return;
  build_shapes(r, find_architecture(r, experts > 1), "base_emb_dim");
}

/// Reads the model: a named one of the catalog, or the shapes of the config, which those of a file
/// of the name may be.
void read_maxtext_model(ForeignReading& r, bool over_base) {
  const YamlNode* const named = find_path(r.root, "model_name");
  const std::string name = word_at(r, "model_name");
  if (name.empty() || name == "default") return read_stated_shapes(r, over_base);
  if (find_path(r.root, kModelFile) != nullptr) return read_stated_shapes(r, false);
  if (const std::optional<model::Model> known = find_hub_model(name))
    return override_model(r, *known);
  r.fields.under("model", *named, [&] { read_known_name(r, *named); });
  if (!r.draft.model && name != kUnknownName)
    r.fields.report(*named, make_assumption(fmt::format("the shapes of {}: MaxText has them in "
                                                        "configs/models/{}.yml",
                                                        make_excerpt(name), make_excerpt(name)),
                                            "put the file there, or pass --model"));
}

/// Experts drop tokens only if their matmuls are dense: `sparse_matmul`, on by default, has none,
/// nor has `megablox` of versions without it.
void read_dropping(ForeignReading& r) {
  const YamlNode* const sparse = find_path(r.root, "sparse_matmul");
  const YamlNode* const older = find_path(r.root, "megablox");
  const bool dense = sparse != nullptr ? is_off(*sparse) : older != nullptr && is_off(*older);
  if (!dense) r.draft.expert_capacity.reset();
}

/// Gradients, and moments unless they have a format of their own, are those of the weights, which
/// are in fp32 by default.
void fill_maxtext_states(ForeignReading& r) {
  Draft& d = r.draft;
  const bool narrow = word_at(r, "weight_dtype") == "bfloat16";
  const std::string moments = word_at(r, "mu_dtype");
  d.grad_dtype =
      narrow || word_at(r, "grad_dtype") == "bfloat16" ? plan::Dtype::bf16 : plan::Dtype::fp32;
  if (!narrow) return;
  d.master_dtype = plan::Dtype::bf16;
  if (moments.empty() || moments == "bfloat16") d.moment_dtype = plan::Dtype::bf16;
}

/// Sets the degrees of tensor and context parallelism, which have two or three axes.
void fill_maxtext_axes(ForeignReading& r) {
  Draft& d = r.draft;
  d.tp = multiply_axes(r, {"tensor", "tensor_transpose", "tensor_sequence"});
  d.cp = multiply_axes(r, {"context", "sequence"});
  d.pp = read_axis(r, "pipeline");
}

/// The activations that `remat_policy: custom` keeps, recomputes or offloads one by one.
constexpr const char* kRematTensors[] = {"decoder_layer_input",
                                         "query_proj",
                                         "key_proj",
                                         "value_proj",
                                         "qkv_proj",
                                         "out_proj",
                                         "context",
                                         "mlpwi",
                                         "mlpwi_0",
                                         "mlpwi_1",
                                         "mlpwo"};

/// Reads reinforcement learning, whose configs divide the devices between the trainer and the
/// sampler. Its batches are of prompts.
void read_maxtext_rl(ForeignReading& r, BaseConfig base, PlanFile& plan) {
  const YamlNode* const fraction = find_path(r.root, "trainer_devices_fraction");
  if (fraction == nullptr) return;
  Draft& d = r.draft;
  d.method = plan::Method::grpo;
  const std::string penalty = word_at(r, "rl.grpo_beta");
  d.ref_model = penalty.empty() || penalty.find_first_of("123456789") != std::string::npos;
  report_left_out(r, *fraction,
                  "only the update of the policy is estimated, on the trainer's devices, without "
                  "generation");
  if (!base.usual.empty())
    r.fields.report(*fraction,
                    make_assumption(fmt::format("the settings of MaxText's {}", base.usual),
                                    "put the file there"));
  if (find_path(r.root, "per_device_batch_size") != nullptr && base.usual.empty()) return;
  d.micro_batch = 1;
  plan.open.push_back({"parallelism.micro_batch", "1 sequence per device", "--micro-batch N"});
}

void fill_maxtext(ForeignReading& r, BaseConfig base) {
  Draft& d = r.draft;
  fill_maxtext_axes(r);
  const std::optional<i64> ep = read_axis(r, "expert");
  if (ep > 1) d.ep = ep;
  if (const YamlNode* const node = find_path(r.root, "ici_expert_parallelism");
      node != nullptr && node->scalar == "-1")
    report_left_out(r, *node, "the axis of experts takes all devices that are left: pass --ep");
  const std::optional<i64> data = read_axis(r, "data"), transposed = read_axis(r, "fsdp_transpose");
  std::optional<i64> shards = read_axis(r, "fsdp");
  if (shards && transposed) shards = std::min(*shards * *transposed, kMaxDegree);
  const bool stated = find_path(r.root, "ici_fsdp_parallelism") != nullptr &&
                      find_path(r.root, "dcn_data_parallelism") != nullptr;
  if (stated && data && shards && *data * *shards <= kMaxDegree)
    d.dp = *data * *shards * ep.value_or(1);
  // The weights of layers without experts are also sharded over the axis of experts.
  d.zero = stated && shards == 1 && ep.value_or(1) == 1 ? 0 : 3;
  if (d.zero == 3 && data > 1) d.replicas = data;
  read_maxtext_model(r, base.below);
  read_dropping(r);
  constexpr i64 kBaseLength = 2048;  // of base.yml
  if (find_path(r.root, "max_target_length") == nullptr) d.sequence = kBaseLength;
  if (!d.param_dtype) d.param_dtype = plan::Dtype::bf16;
  fill_maxtext_states(r);
  const std::string remat = word_at(r, "remat_policy");
  // Layers are rematerialized without a policy, that is in full, if it is "none"
  // (layers/decoders.py, get_remat_policy).
  d.recompute = remat.empty() || remat == "full" || remat == "none" ? plan::Recompute::full
                                                                    : plan::Recompute::selective;
  // Policies that keep the outputs of few matmuls, or not those of all.
  if (remat == "save_qkv_proj" || remat == "save_out_proj" || remat == "qkv_proj_offloaded") {
    d.recompute = plan::Recompute::full;
    report_left_out(r, *find_path(r.root, "remat_policy"),
                    "estimated as full recomputation, without the projections that it keeps");
  } else if (remat.starts_with("save_dot_except")) {
    report_left_out(r, *find_path(r.root, "remat_policy"),
                    "the matmuls that it recomputes are counted as kept");
  }
  const auto offloads = [&](const char* key) { return word_at(r, key) == "offload"; };
  const bool custom = remat == "custom" &&
                      std::any_of(std::begin(kRematTensors), std::end(kRematTensors), offloads);
  if (custom || remat.find("offload") != std::string::npos)
    report_left_out(r, *find_path(r.root, "remat_policy"),
                    "kept activations are estimated on the GPU");
  // Versions whose base.yml does not have the key have no other kernel.
  const std::string kernel = word_at(r, "attention");
  if (kernel == "dot_product" || (kernel.empty() && base.read))
    d.attention = plan::AttentionKernel::unfused;
  if (d.zero == 0 && is_on_at_path(r, "shard_optimizer_over_data")) d.zero = 1;
  d.sequence_parallel = d.tp > 1;
  if (d.cp > 1) d.cp_comm = plan::CpComm::all_gather;
  d.optimizer = plan::Optimizer::adam;
  d.order = mesh::kDefaultOrder;
  d.framework = find_software("maxtext");
  read_device_batch(r);
}

/// Returns the devices of the axes that are not -1, the rest.
std::optional<i64> count_stated_devices(ForeignReading& r) {
  std::optional<i64> devices = 1;
  for (const char* const level : {"ici", "dcn"})
    for (const char* const axis :
         {"data", "fsdp", "fsdp_transpose", "tensor", "tensor_sequence", "tensor_transpose",
          "sequence", "pipeline", "context", "expert"}) {
      const std::string path = fmt::format("{}_{}_parallelism", level, axis);
      if (word_at(r, path) == "-1") continue;
      devices = product({*devices, read_whole_at(r, path, 1, kMaxDegree).value_or(1)});
      if (!devices || *devices > cluster::kMaxDevices) return std::nullopt;
    }
  return devices;
}

/// Returns the settings of the model that is trained: distillation has those that the student has
/// of its own apart.
YamlNode apply_student(YamlNode tree) {
  const YamlNode* const found = tree.find("student_overrides");
  if (found == nullptr || found->kind != YamlNode::Kind::map) return tree;
  const YamlNode student = *found;
  for (const YamlEntry& entry : student.entries) {
    std::erase_if(tree.entries,
                  [&](const YamlEntry& old) { return old.key.scalar == entry.key.scalar; });
    tree.entries.push_back(entry);
  }
  return tree;
}

void read_maxtext_tree(ForeignReading& reading, BaseConfig base, PlanFile& plan) {
  reading.known = &KnownKeys::find("maxtext");
  reading.launcher_keys.insert(reading.launcher_keys.end(),
                               {"nodes", "gpus-per-node", std::string(kModelFile)});
  read_foreign(reading, kMaxtextKeys, plan);
  fill_maxtext(reading, base);
  read_maxtext_rl(reading, base, plan);
  if (const std::optional<i64> devices = count_stated_devices(reading); devices > 1)
    plan.usual_world = devices;
  plan.ignored_keys.clear();  // data, checkpoints and logging
}

/// A setting of rl.yml, MaxText's config of reinforcement learning, which differs from base.yml's.
struct RlSetting {
  std::string_view key, value;
};
constexpr RlSetting kRlSettings[] = {
    {"trainer_devices_fraction", "0.5"}, {"weight_dtype", "bfloat16"},
    {"attention", "dot_product"},        {"remat_policy", "custom"},
    {"decoder_layer_input", "offload"},  {"max_target_length", "1024"}};

/// Adds the settings of rl.yml that `place` names under those of `root`, if it cannot be read.
void add_rl_settings(YamlNode& root, const YamlNode& place) {
  for (const RlSetting& row : kRlSettings) {
    if (root.find(row.key) != nullptr) continue;
    YamlEntry entry{place, place};
    entry.key.scalar = row.key;
    entry.value.scalar = row.value;
    root.entries.push_back(std::move(entry));
  }
}

/// Adds the config that `named` names under `root`, and those below it: base.yml is the last one.
BaseConfig inherit_config(YamlNode& root, const YamlNode& named, const std::string& file,
                          const FileReader& files) {
  const bool read = inherit_file(root, named, file, files);
  const YamlNode* const base = root.find("base_config");
  if (base == nullptr) {
    const bool below = named.scalar.ends_with("base.yml");
    return {below, below && read};
  }
  YamlNode below = *base;
  below.scalar = beside(named.scalar, base->scalar);
  const bool found = inherit_file(root, below, file, files);
  if (below.scalar.ends_with(kBaseName)) return {true, found};
  BaseConfig result{true, false};
  if (!found && below.scalar.ends_with(kRlName)) {
    add_rl_settings(root, below);
    result.usual = "rl.yml";
  }
  below.scalar = beside(below.scalar, kBaseName);
  result.read = inherit_file(root, below, file, files);
  return result;
}

/// Returns whether the file of a model states the width and the layers that the catalog has.
bool has_shapes_of(const YamlNode& stated, const model::Model& known) {
  const auto states = [&](std::string_view key, i64 value) {
    const YamlNode* const node = stated.find(key);
    return node == nullptr || node->scalar == std::to_string(value);
  };
  return states("base_emb_dim", known.hidden) && states("base_num_decoder_layers", known.layers());
}

/// Adds the file of a model that the catalog does not have, or has with other shapes: it is beside
/// the configs, and counts more than they do.
void inherit_model(YamlNode& root, const YamlNode& tree, const YamlNode& config,
                   const std::string& file, const FileReader& files) {
  const YamlNode* const name = tree.find("model_name");
  if (name == nullptr || name->scalar.find('/') != std::string::npos || is_off(*name) ||
      name->scalar == "default")
    return;
  YamlNode path = *name;
  for (const char* const folder : {"models/", "../models/"}) {
    path.scalar = beside(config.scalar, fmt::format("{}{}.yml", folder, name->scalar));
    YamlNode stated = path;
    stated.kind = YamlNode::Kind::map;
    if (!inherit_file(stated, path, file, files)) continue;
    const std::optional<model::Model> known = find_hub_model(name->scalar);
    if (known && has_shapes_of(stated, *known)) return;
    inherit_file(root, path, file, files);
    YamlEntry mark{path, path};
    mark.key.scalar = kModelFile;
    root.entries.push_back(std::move(mark));
    return;
  }
}

/// Adds all configs of a run under its overrides. `config` may have no name.
BaseConfig inherit_all(YamlNode& overrides, const YamlNode& config, const std::string& file,
                       const FileReader& files) {
  YamlNode tree = overrides;
  inherit_config(tree, config, file, files);
  inherit_model(overrides, tree, config, file, files);
  return inherit_config(overrides, config, file, files);
}

/// Returns a reader of files that also has those that a script writes, which it may copy elsewhere:
/// they are found by their names without folders.
FileReader with_copied_files(const FileReader& files, const ScriptFlags& flags) {
  const auto label = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  return [&files, label, written = flags.written](const std::string& path) -> Result<std::string> {
    Result<std::string> text = files(path);
    if (text) return text;
    for (const auto& [name, there] : written)
      if (label(path) == label(name)) return there;
    return text;
  };
}

/// Reads the overrides of a launch script, above the config that it names and the one below that.
void read_maxtext_script(PlanFile& plan, const FileReader& files) {
  const ShellInput input = make_script_input(plan, files);
  ScriptFlags flags = read_overrides(plan.text, input);
  forget_usual_folders(flags);
  const BaseConfig base =
      inherit_all(flags.map, flags.config, plan.name, with_copied_files(files, flags));
  // Values that only the running script knows are not those of the config below.
  for (const ScriptFlags::Unknown& one : flags.unknown) {
    const auto named = [&](const YamlEntry& entry) { return entry.key.scalar == one.flag; };
    std::erase_if(flags.map.entries, named);
    if (one.flag != "model_name") continue;
    YamlEntry unknown{one.place, one.place};
    unknown.key.scalar = one.flag;
    unknown.value.scalar = kUnknownName;
    flags.map.entries.push_back(std::move(unknown));
  }
  flags.map = apply_student(std::move(flags.map));
  FieldReader fields(plan.name, plan.findings);
  ForeignReading reading{fields, plan.draft, flags.map, files};
  reading.launcher_keys = flags.of_launcher;
  read_maxtext_tree(reading, base, plan);
  // The length may be that of a config that cannot be read, or of a variable.
  if (find_path(flags.map, "max_target_length") == nullptr &&
      (!base.below || std::any_of(flags.unknown.begin(), flags.unknown.end(),
                                  [](const auto& one) { return one.flag == "max_target_length"; })))
    plan.draft.sequence.reset();
  read_node_shape(reading, "nodes", "gpus-per-node", 1, std::nullopt, &flags, &plan);
  report_script_values(reading, flags, kMaxtextKeys, plan);
  plan.keys = fields.keys();
}

}  // namespace

bool claims_maxtext(std::string_view file, std::string_view text) {
  if (is_script_file(file))
    return has_any(text, {"MaxText", "maxtext"}) &&
           has_any(text, {"train.py", ".train ", "\"train\"", "sft_trainer", "train_sft",
                          "train_rl", "train_grpo", "train_distill", "train_compile",
                          "axtext/configs/", "axText/configs/"}) &&
           has_any(text, {"per_device_batch_size", "ici_fsdp_parallelism", "ici_tensor_parallelism",
                          "max_target_length=", "configs/base.yml", "configs/rl.yml"});
  // Only MaxText has configs that lie over others of these names.
  if (is_yaml_file(file) && has_any(text, {"base_config:"}) &&
      has_any(text, {"base.yml", "rl.yml", "sft.yml", "max_target_length:"}))
    return true;
  return is_yaml_file(file) &&
         has_any(text, {"ici_fsdp_parallelism:", "per_device_batch_size:", "base_emb_dim:"}) &&
         has_any(text, {"max_target_length:", "base_num_decoder_layers:", "base_config:",
                        "dcn_data_parallelism:"});
}

void read_maxtext(PlanFile& plan, const FileReader& files) {
  if (is_script_file(plan.name)) return read_maxtext_script(plan, files);
  const Result<YamlNode> root = read_python_yaml(plan.text, plan.name, plan.findings);
  if (!root) return plan.findings.push_back(root.error());
  // Primus has the settings under its own.
  const YamlNode* const inner = find_path(*root, "modules.pre_trainer.overrides");
  FieldReader fields(plan.name, plan.findings);
  YamlNode tree = inner == nullptr ? *root : *inner;
  YamlNode here = tree;  // the place of the file itself
  here.scalar = plan.name;
  BaseConfig base;
  if (tree.find("base_config") != nullptr) base = inherit_all(tree, here, plan.name, files);
  tree = apply_student(std::move(tree));
  ForeignReading reading{fields, plan.draft, tree, files};
  if (const YamlNode* const model = find_path(*root, "modules.pre_trainer.model"))
    fields.under("model", *model, [&] { read_named_model(reading, *model); });
  read_maxtext_tree(reading, base, plan);
  plan.keys = fields.keys();
}

}  // namespace rankwright::importer
