// Reads the YAML configs of GPT-NeoX, llm-foundry and MaxText, which state a model's shapes, the
// batch, and how states are sharded. Launch scripts of MaxText override a config (`key=value`).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/framework/script_report.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/model/shapes.h"

namespace rankwright::importer {
namespace {

/// Builds the model of the reading's shapes if they are complete.
void build_shapes(ForeignReading& r, std::string_view architecture, std::string_view place) {
  model::Shapes& s = r.shapes;
  if (s.layers == 0 || s.hidden == 0 || s.heads == 0) return;
  s.name = "this model";
  s.architecture = architecture;
  const YamlNode* const node = find_path(r.root, place);
  r.fields.under("model", node == nullptr ? r.root : *node, [&] {
    r.draft.model = r.fields.take(node == nullptr ? r.root : *node, build(s));
  });
}

std::string word_at(const ForeignReading& r, std::string_view path) {
  const YamlNode* const node = find_path(r.root, path);
  return node == nullptr || node->kind != YamlNode::Kind::scalar ? "" : node->scalar;
}

bool is_on_at_path(const ForeignReading& r, std::string_view path) {
  const YamlNode* const node = find_path(r.root, path);
  return node != nullptr && !is_off(*node);
}

void assume_vocabulary(ForeignReading& r, i64 vocab) {
  r.shapes.vocab = vocab;
  r.fields.report(r.root, make_assumption(fmt::format("vocabulary size {}: the tokenizer sets it",
                                                      count(vocab)),
                                          "--model NAME or --model config.json"));
}

// GPT-NeoX.

/// The autotuner chooses one of a list of stages.
void read_neox_zero(ForeignReading& r, const YamlNode& node) {
  constexpr Word<int> kWords[] = {{"0", 0}, {"1", 1}, {"2", 2}, {"3", 3}};
  const bool list = node.kind == YamlNode::Kind::sequence && !node.items.empty();
  r.draft.zero = parse_word(r, list ? node.items.back() : node, kWords);
  if (list) report_left_out(r, node, "the tuner chooses a stage: estimated with the last one");
}

/// 0 stages are one stage without the pipeline's engine.
void read_stages(ForeignReading& r, const YamlNode& node) {
  const std::optional<i64> n = r.fields.whole(node, 0, kMaxDegree);
  if (n) r.draft.pp = std::max<i64>(1, *n);
}

void read_neox_optimizer(ForeignReading& r, const YamlNode& node) {
  const std::string word = lower(node.scalar.substr(0, kLongestLabel));
  if (word.find("8bit") != std::string::npos)
    r.draft.optimizer = plan::Optimizer::adam_8bit;
  else if (word == "lion")
    r.draft.optimizer = plan::Optimizer::lion;
  else if (word == "sgd")
    r.draft.optimizer = plan::Optimizer::sgd;
  else if (word.find("adam") == std::string::npos)
    report_left_out(r, node, "optimizer.type: estimated with Adam's states");
}

constexpr ForeignKey kNeoxKeys[] = {
    {"pipe_parallel_size", "parallelism.pp_size", read_stages},
    {"model_parallel_size", "parallelism.tp_size", whole<&Draft::tp, kMaxDegree>},
    {"context_parallel_size", "parallelism.cp_size", whole<&Draft::cp, kMaxContext>},
    {"sequence_parallel", "parallelism.sequence_parallel", python_flag<&Draft::sequence_parallel>},
    {"global_num_gpus", "world_size", whole<&Draft::world, cluster::kMaxDevices>},
    {"num_layers", "model", shape<&model::Shapes::layers>},
    {"hidden_size", "model", shape<&model::Shapes::hidden>},
    {"num_attention_heads", "model", shape<&model::Shapes::heads>},
    {"num_kv_heads", "model", shape<&model::Shapes::kv_heads>},
    {"intermediate_size", "model", shape<&model::Shapes::ffn>},
    {"vocab_size", "model", shape<&model::Shapes::vocab>},
    {"padded_vocab_size", "model", shape<&model::Shapes::vocab>},
    {"max_position_embeddings", "model"},
    {"pos_emb", "model"},
    {"no_weight_tying", "model"},
    {"norm", "model"},
    {"activation", "model"},
    {"mlp_type", "model"},
    {"use_bias_in_norms", "model"},
    {"use_bias_in_attn_linear", "model"},
    {"use_bias_in_mlp", "model"},
    {"moe_num_experts", "", nullptr, false, "experts are estimated as dense layers"},
    {"num_experts", "", nullptr, false, "experts are estimated as dense layers"},
    {"seq_length", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"train_micro_batch_size_per_gpu", "parallelism.micro_batch",
     whole<&Draft::micro_batch, kMaxMicroBatch>},
    {"gradient_accumulation_steps", "job.global_batch",
     whole<&Draft::accumulation, plan::kMaxBatch>},
    {"train_batch_size", "job.global_batch", whole<&Draft::global_batch, plan::kMaxBatch>},
    {"zero_optimization.stage", "parallelism.zero_stage", read_neox_zero},
    {"zero_optimization.cpu_offload", "parallelism.offload.optimizer", read_offload_optimizer},
    {"zero_optimization.offload_optimizer.device", "parallelism.offload.optimizer",
     read_offload_optimizer},
    {"zero_optimization.offload_optimizer.nvme_path", "parallelism.offload.nvme_path",
     read_nvme_path},
    {"precision", "job.param_dtype", read_trainer_dtype},
    {"fp16.enabled", "job.param_dtype"},
    {"fp16.fp16", "job.param_dtype"},
    {"bf16.enabled", "job.param_dtype"},
    {"checkpoint_activations", "parallelism.recompute", read_full_recompute},
    {"partition_activations", ""},
    {"checkpoint_num_layers", "parallelism.recompute"},
    {"data_types.grad_accum_dtype", "job.grad_dtype"},
    {"optimizer.type", "job.optimizer", read_neox_optimizer},
    {"train_impl", "job.method"},
};

/// Keys are written with dashes or underscores.
void use_underscores(YamlNode& root) {
  for (YamlEntry& entry : root.entries)
    std::replace(entry.key.scalar.begin(), entry.key.scalar.end(), '-', '_');
}

/// Returns the words in a nested list: [[["flash"], 12]].
std::string list_words(const YamlNode& node) {
  std::string text = node.scalar + " ";
  for (const YamlNode& item : node.items) text += list_words(item);
  return text;
}

void fill_neox_model(ForeignReading& r) {
  model::Shapes& s = r.shapes;
  if (s.layers == 0 || s.hidden == 0 || s.heads == 0) return;
  const YamlNode* const kinds = find_path(r.root, "attention_config");
  const std::string kind = kinds == nullptr ? "" : list_words(*kinds);
  if (kind.find("mamba") != std::string::npos || kind.find("rwkv") != std::string::npos)
    return report_left_out(r, *kinds,
                           "attention_config: layers without attention are unknown here: "
                           "pass --model");
  const std::string activation = lower(word_at(r, "activation"));
  const bool gated = word_at(r, "mlp_type") == "llama" || word_at(r, "mlp_type") == "gated" ||
                     activation == "swiglu" || activation == "geglu";
  const std::string norm = word_at(r, "norm");
  const bool learned = word_at(r, "pos_emb").empty() || word_at(r, "pos_emb") == "learned";
  if (s.kv_heads == 0) s.kv_heads = s.heads;
  // The width of gated layers counts their three matrices together.
  if (s.ffn == 0) s.ffn = std::min(s.hidden, kMaxCount / 16) * (gated ? 8 : 4);
  if (gated) {
    const i64 multiple = read_whole_at(r, "mlp_multiple_of", 1, kMaxCount)
                             .value_or(word_at(r, "mlp_type") == "llama" ? 256 : 1);
    s.ffn = (s.ffn / 3 + multiple - 1) / multiple * multiple;
  }
  s.tied = !is_on_at_path(r, "no_weight_tying");
  s.gated = gated;
  if (norm == "rmsnorm" || norm == "te_rmsnorm") s.norm_bias = false;
  for (const char* const path : {"use_bias_in_attn_linear", "use_bias_in_mlp"})
    if (const YamlNode* const node = find_path(r.root, path); node != nullptr && is_off(*node)) {
      if (path[12] == 'a') s.qkv_bias = s.out_bias = false;
      if (path[12] == 'm') s.ffn_bias = false;
    }
  if (s.vocab == 0) {
    constexpr i64 kPadded = 50304;  // GPT-2's and GPT-NeoX's tokenizers, padded to 128
    assume_vocabulary(r, kPadded);
  }
  if (learned) s.positions = read_whole_at(r, "max_position_embeddings", 0, kMaxCount).value_or(0);
  build_shapes(r, learned && s.positions > 0 ? "gpt2" : "gpt_neox", "hidden_size");
}

/// Reads the method. That of DPO joins chosen and rejected sequences in a batch of pairs.
void read_neox_method(ForeignReading& r) {
  const YamlNode* const method = find_path(r.root, "train_impl");
  if (method == nullptr || method->scalar == "normal") return;
  if (method->scalar != "dpo")
    return report_left_out(r, *method, "only the trained model is counted");
  r.draft.method = plan::Method::dpo;
  r.draft.ref_model =
      !is_on_at_path(r, "dpo_reference_free") && !is_on_at_path(r, "precompute_model_name");
  count_pairs_twice(r.draft);
}

void fill_neox(ForeignReading& r) {
  Draft& d = r.draft;
  const bool half = is_on_at_path(r, "fp16.enabled") || is_on_at_path(r, "fp16.fp16");
  // Its fp16 map states bf16, too: {"enabled": true, "type": "bfloat16"}.
  if (is_on_at_path(r, "bf16.enabled") || (half && word_at(r, "fp16.type") == "bfloat16"))
    d.param_dtype = plan::Dtype::bf16;
  else if (half)
    d.param_dtype = plan::Dtype::fp16;
  if (!d.param_dtype) d.param_dtype = plan::Dtype::fp32;
  d.grad_dtype =
      word_at(r, "data_types.grad_accum_dtype") == "fp32" ? plan::Dtype::fp32 : d.param_dtype;
  if (!d.zero) d.zero = 0;
  // The optimizer of bf16 without ZeRO shards its states over the data ranks
  // (deepspeed/runtime/bf16_optimizer.py).
  if (d.zero == 0 && d.param_dtype == plan::Dtype::bf16) {
    d.zero = 1;
    // It accumulates in fp32 unless told otherwise (DeepSpeedEngine.get_data_types).
    if (word_at(r, "data_types.grad_accum_dtype") != "bf16") d.grad_dtype = plan::Dtype::fp32;
  }
  if (!d.recompute) d.recompute = plan::Recompute::none;
  if (!d.sequence_parallel || d.tp.value_or(1) == 1) d.sequence_parallel = false;
  if (!d.accumulation && !d.global_batch && d.micro_batch) d.accumulation = 1;
  if (d.tp > 1 && d.recompute == plan::Recompute::full && is_on_at_path(r, "partition_activations"))
    report_left_out(r, *find_path(r.root, "partition_activations"),
                    "partition_activations: estimated with whole activations on every TP rank");
  if (const std::optional<i64> at_once =
          read_whole_at(r, "checkpoint_num_layers", 0, model::kMaxLayers);
      at_once > 1 && d.recompute == plan::Recompute::full)
    report_layers_at_once(r, *find_path(r.root, "checkpoint_num_layers"), *at_once);
  read_neox_method(r);
  if (!d.optimizer) d.optimizer = plan::Optimizer::adam;
  d.order = mesh::kDefaultOrder;
  d.framework = find_software("megatron-deepspeed");
  const YamlNode* const kernels = find_path(r.root, "attention_config");
  const bool flash = kernels != nullptr && list_words(*kernels).find("flash") != std::string::npos;
  d.attention = flash ? plan::AttentionKernel::flash2 : plan::AttentionKernel::unfused;
}

// llm-foundry.

void read_sharding(ForeignReading& r, const YamlNode& node) {
  constexpr Word<int> kWords[] = {{"FULL_SHARD", 3},
                                  {"HYBRID_SHARD", 3},
                                  {"SHARD_GRAD_OP", 2},
                                  {"_HYBRID_SHARD_ZERO2", 2},
                                  {"NO_SHARD", 0}};
  r.draft.zero = parse_word(r, node, kWords);
}

void read_device_micro_batch(ForeignReading& r, const YamlNode& node) {
  if (node.scalar != "auto") r.draft.micro_batch = r.fields.whole(node, 1, kMaxMicroBatch);
}

void read_composer_optimizer(ForeignReading& r, const YamlNode& node) {
  if (node.scalar.find("lion") != std::string::npos)
    r.draft.optimizer = plan::Optimizer::lion;
  else if (node.scalar.find("adam") == std::string::npos)
    report_left_out(r, node, "optimizer.name: estimated with Adam's states");
}

void read_peft_config(ForeignReading& r, const YamlNode& node) {
  const YamlNode* const type = find_path(node, "peft_type");
  if (type != nullptr && type->scalar != "LORA") return refuse_partial_training(r, *type);
  if (!is_off(node)) read_lora_map(r, "model.peft_config", "r");
}

/// Reports the algorithms of Composer that change a step, besides those that do not.
void read_algorithms(ForeignReading& r, const YamlNode& node) {
  constexpr std::string_view kLight[] = {"gradient_clipping", "label_smoothing",
                                         "low_precision_layernorm"};
  for (const YamlEntry& entry : node.entries)
    if (std::find(std::begin(kLight), std::end(kLight), entry.key.scalar) == std::end(kLight))
      report_left_out(r, entry.key,
                      fmt::format("algorithms.{}: times and memory do not include it",
                                  make_excerpt(entry.key.scalar)));
}

/// FULL leaves parameters and reductions in fp32 (composer/trainer/mosaic_fsdp_utils.py).
void read_composer_mixed_precision(ForeignReading& r, const YamlNode& node) {
  if (node.scalar == "FULL")
    report_left_out(r, node,
                    "fsdp_config.mixed_precision FULL: parameters are gathered in fp32, and "
                    "estimated in 16 bits");
}

/// Models of transformers have unfused attention unless told otherwise
/// (llmfoundry/models/hf/hf_causal_lm.py); those of MPT have a kernel of their own.
std::optional<plan::AttentionKernel> find_foundry_attention(const ForeignReading& r) {
  const std::string stated = word_at(r, "model.attn_config.attn_impl");
  const std::string changed = word_at(r, "model.config_overrides.attn_config.attn_impl");
  if (stated == "torch" || changed == "torch") return plan::AttentionKernel::unfused;
  if (!stated.empty() || !changed.empty() || word_at(r, "model.name") != "hf_causal_lm" ||
      find_path(r.root, "model.attention_patch_type") != nullptr)
    return std::nullopt;
  if (is_on_at_path(r, "model.use_flash_attention_2")) return plan::AttentionKernel::flash2;
  const bool mpt =
      lower(word_at(r, "model.pretrained_model_name_or_path")).find("mpt") != std::string::npos;
  return mpt ? std::nullopt : std::optional(plan::AttentionKernel::unfused);
}

constexpr ForeignKey kFoundryKeys[] = {
    {"model.peft_config", "job.lora_rank", read_peft_config},
    {"model.pretrained_model_name_or_path", "model", read_named_model},
    {"model.d_model", "model", shape<&model::Shapes::hidden>},
    {"model.n_heads", "model", shape<&model::Shapes::heads>},
    {"model.n_layers", "model", shape<&model::Shapes::layers>},
    {"model.vocab_size", "model", shape<&model::Shapes::vocab>},
    {"model.attn_config.kv_n_heads", "model", shape<&model::Shapes::kv_heads>},
    {"model.config_overrides", "model", read_config_overrides},
    {"model.use_flash_attention_2", "software.attention"},
    {"algorithms", "", read_algorithms},
    {"model.expansion_ratio", "model"},
    {"model.ffn_config", "model"},
    {"model.intermediate_size", "model"},
    {"optimizer.name", "job.optimizer", read_composer_optimizer},
    {"max_seq_len", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"global_train_batch_size", "job.global_batch", whole<&Draft::global_batch, plan::kMaxBatch>},
    {"device_train_microbatch_size", "parallelism.micro_batch", read_device_micro_batch},
    {"precision", "job.param_dtype", read_trainer_dtype},
    {"fsdp_config.sharding_strategy", "parallelism.zero_stage", read_sharding},
    {"fsdp_config.mixed_precision", "job.grad_dtype", read_composer_mixed_precision},
    {"fsdp_config.activation_checkpointing", "parallelism.recompute", read_full_recompute},
    {"fsdp_config.activation_cpu_offload", "", nullptr, false,
     "activations are counted on the GPU"},
    {"tp_config.tensor_parallel_degree", "parallelism.tp_size", whole<&Draft::tp, kMaxDegree>},
    {"fsdp_config.data_parallel_shard_degree", "parallelism.shard_size"},
    {"compute.gpus", "world_size", whole<&Draft::world, cluster::kMaxDevices>},
};

/// MPT learns positions unless it is told otherwise or has others (MPTConfig).
void fill_foundry_positions(ForeignReading& r) {
  const YamlNode* const learned = find_path(r.root, "model.learned_pos_emb");
  model::Shapes& s = r.shapes;
  const bool others = is_on_at_path(r, "model.attn_config.alibi") ||
                      is_on_at_path(r, "model.attn_config.rope") || is_on_at_path(r, "model.alibi");
  if (others || (learned != nullptr && is_off(*learned))) return;
  std::optional<i64> length = read_whole_at(r, "model.max_seq_len", 1, kMaxSequence);
  if (!length) length = r.draft.sequence;
  s.positions = length.value_or(0);
  // The layers are GPT-2's without its biases.
  s.norm_bias = s.qkv_bias = s.out_bias = s.ffn_bias = false;
}

/// Reports the experts of MPT (ffn_type mb_moe, mb_dmoe, torch_dmoe): the family has none here.
void read_foundry_experts(ForeignReading& r) {
  const YamlNode* const type = find_path(r.root, "model.ffn_config.ffn_type");
  if (type == nullptr || !type->scalar.ends_with("moe")) return;
  const i64 experts =
      read_whole_at(r, "model.ffn_config.moe_num_experts", 1, kMaxCount).value_or(1);
  report_left_out(r, *type,
                  fmt::format("ffn_type {}: {} per layer are estimated as one dense layer",
                              make_excerpt(type->scalar), plural(experts, "expert", "experts")));
}

void fill_foundry(ForeignReading& r) {
  Draft& d = r.draft;
  if (word_at(r, "model.name") == "mpt_causal_lm" &&
      word_at(r, "model.loss_fn") != "torch_crossentropy")
    d.loss = plan::Loss::fused;
  model::Shapes& s = r.shapes;
  if (s.hidden > 0) {
    const Result<i64> ratio = parse_count(word_at(r, "model.expansion_ratio"), 1);
    s.ffn = std::min(s.hidden, kMaxCount / 64) * std::min<i64>(ratio ? *ratio : 4, 64);
    if (const std::optional<i64> width =
            read_whole_at(r, "model.ffn_config.ffn_hidden_size", 1, kMaxCount))
      s.ffn = *width;
    if (word_at(r, "model.ffn_config.ffn_type") == "mptglu") s.gated = true;
    read_foundry_experts(r);
    // MPT has no key of this name: it is that of Llama's layers, which Composer also trains.
    const std::optional<i64> width = read_whole_at(r, "model.intermediate_size", 1, kMaxCount);
    if (width) s.ffn = *width;
    if (s.kv_heads == 0) s.kv_heads = s.heads;
    if (s.vocab == 0) assume_vocabulary(r, 50368);
    if (!width) fill_foundry_positions(r);
    build_shapes(r, width ? "llama" : s.positions > 0 ? "gpt2" : "mpt", "model.d_model");
  }
  const bool sharded = find_path(r.root, "fsdp_config") != nullptr;
  if (!d.zero) d.zero = sharded ? 3 : 0;
  if (!d.param_dtype) d.param_dtype = plan::Dtype::bf16;
  // PURE also reduces gradients in 16 bits; states are fp32 in any case.
  d.grad_dtype =
      word_at(r, "fsdp_config.mixed_precision") == "PURE" ? d.param_dtype : plan::Dtype::fp32;
  if (!d.recompute) d.recompute = plan::Recompute::none;
  d.sequence_parallel = false;
  if (!d.optimizer) d.optimizer = plan::Optimizer::adam;
  d.order = mesh::kDefaultOrder;
  d.framework = find_software("llm-foundry");
  d.attention = find_foundry_attention(r);
}

/// Composer's launcher has the config under `parameters`, and FSDP's settings moved to
/// `parallelism_config.fsdp`.
YamlNode unwrap_foundry(const YamlNode& root) {
  const YamlNode* const inner = root.find("parameters");
  YamlNode tree = inner != nullptr && inner->kind == YamlNode::Kind::map ? *inner : root;
  if (inner != nullptr)
    for (const YamlEntry& entry : root.entries)
      if (entry.key.scalar == "compute") tree.entries.push_back(entry);
  const YamlNode* const fsdp = find_path(tree, "parallelism_config.fsdp");
  if (fsdp != nullptr && tree.find("fsdp_config") == nullptr) {
    YamlEntry entry{*fsdp, *fsdp};
    entry.key.kind = YamlNode::Kind::scalar;
    entry.key.scalar = "fsdp_config";
    entry.key.entries.clear();
    tree.entries.push_back(std::move(entry));
  }
  return tree;
}

// MaxText.

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

/// Doubles the shapes of a model that a power of two scales: heads and width of the MLP, then the
/// embedding, then the layers, and so on (MaxText's get_individual_scales).
void scale_shapes(ForeignReading& r) {
  constexpr i64 kLargest = i64{1} << 16;
  model::Shapes& s = r.shapes;
  const i64 scale = read_whole_at(r, "global_parameter_scale", 1, kLargest).value_or(1);
  int doublings = 0;
  while (scale >> (doublings + 1) > 0) ++doublings;
  const auto times = [](i64& value, int n) { value = std::min(value, kMaxCount >> n) << n; };
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
  }
  r.draft.model = std::move(known);
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

void fill_maxtext(ForeignReading& r) {
  Draft& d = r.draft;
  d.tp = read_axis(r, "tensor");
  if (const std::optional<i64> more = read_axis(r, "tensor_sequence"); more && d.tp)
    d.tp = std::min(*d.tp * *more, kMaxDegree);
  d.pp = read_axis(r, "pipeline");
  d.cp = read_axis(r, "context");
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
  const std::string name = word_at(r, "model_name");
  if (const std::optional<model::Model> known = find_hub_model(name); known && !name.empty())
    override_model(r, *known);
  else if (name.empty() || name == "default") {
    model::Shapes& s = r.shapes;
    if (s.kv_heads == 0) s.kv_heads = s.heads;
    if (s.vocab == 0) s.vocab = 32000;
    constexpr i64 kBaseHeadDim = 128;  // of base.yml: it is not derived from the other shapes
    if (s.head_dim == 0) s.head_dim = kBaseHeadDim;
    scale_shapes(r);
    s.tied = is_on_at_path(r, "logits_via_embedding");
    // One of its layers is a local and a global one of Gemma 2.
    if (word_at(r, "decoder_block") == "gemma2" && s.layers <= model::kMaxLayers) s.layers *= 2;
    // One activation is that of a layer of two matrices, two are those of a gated one.
    const YamlNode* const activations = find_path(r.root, "mlp_activations");
    if (activations != nullptr && activations->items.size() == 1) s.gated = false;
    const i64 experts = read_whole_at(r, "num_experts", 1, kMaxCount).value_or(1);
    const bool mixtral = word_at(r, "decoder_block") == "mixtral";
    if (experts > 1 && mixtral) {
      s.experts = experts;
      s.active_experts = read_whole_at(r, "num_experts_per_tok", 1, experts).value_or(1);
      s.expert_ffn = read_whole_at(r, "base_moe_mlp_dim", 1, kMaxCount).value_or(s.ffn);
    }
    if (experts == 1 || mixtral) build_shapes(r, mixtral ? "mixtral" : "llama", "base_emb_dim");
  }
  constexpr i64 kBaseLength = 2048;  // of base.yml
  if (find_path(r.root, "max_target_length") == nullptr) d.sequence = kBaseLength;
  if (!d.param_dtype) d.param_dtype = plan::Dtype::bf16;
  fill_maxtext_states(r);
  const std::string remat = word_at(r, "remat_policy");
  d.recompute =
      remat.empty() || remat == "full" ? plan::Recompute::full : plan::Recompute::selective;
  if (remat.find("offload") != std::string::npos)
    report_left_out(r, *find_path(r.root, "remat_policy"),
                    "kept activations are estimated on the GPU");
  if (word_at(r, "attention") == "dot_product") d.attention = plan::AttentionKernel::unfused;
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
    for (const char* const axis : {"data", "fsdp", "fsdp_transpose", "tensor", "tensor_sequence",
                                   "pipeline", "context", "expert"}) {
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

void read_maxtext_tree(ForeignReading& reading, PlanFile& plan) {
  read_foreign(reading, kMaxtextKeys, plan);
  fill_maxtext(reading);
  if (const std::optional<i64> devices = count_stated_devices(reading); devices > 1)
    plan.usual_world = devices;
  plan.ignored_keys.clear();  // data, checkpoints and logging
}

/// Reads the overrides of a launch script, above the config that it names and the one below that.
void read_maxtext_script(PlanFile& plan, const FileReader& files) {
  ShellInput input = with_usual_folders(plan.variables);
  input.file = plan.name;
  input.files = files;
  MegatronFlags flags = read_overrides(plan.text, input);
  forget_usual_folders(flags);
  const bool inherits = inherit_file(flags.map, flags.config, plan.name, files);
  if (inherits)
    if (const YamlNode* const base = flags.map.find("base_config")) {
      YamlNode below = *base;
      below.scalar = beside(flags.config.scalar, base->scalar);
      inherit_file(flags.map, below, plan.name, files);
    }
  // Values that only the running script knows are not those of the config below.
  for (const MegatronFlags::Unknown& one : flags.unknown) {
    const auto named = [&](const YamlEntry& entry) { return entry.key.scalar == one.flag; };
    std::erase_if(flags.map.entries, named);
    if (one.flag != "model_name") continue;
    YamlEntry unknown{one.place, one.place};
    unknown.key.scalar = one.flag;
    unknown.value.scalar = "unknown";
    flags.map.entries.push_back(std::move(unknown));
  }
  flags.map = apply_student(std::move(flags.map));
  FieldReader fields(plan.name, plan.findings);
  ForeignReading reading{fields, plan.draft, flags.map, files};
  read_maxtext_tree(reading, plan);
  // The length may be that of a config that cannot be read, or of a variable.
  const bool base = inherits || flags.config.scalar.ends_with("base.yml");
  if (find_path(flags.map, "max_target_length") == nullptr &&
      (!base || std::any_of(flags.unknown.begin(), flags.unknown.end(),
                            [](const auto& one) { return one.flag == "max_target_length"; })))
    plan.draft.sequence.reset();
  read_node_shape(reading, "nodes", "gpus-per-node", 1, std::nullopt, &flags, &plan);
  report_script_values(reading, flags, kMaxtextKeys, plan);
  plan.keys = fields.keys();
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> marks) {
  return std::any_of(marks.begin(), marks.end(), [&](std::string_view mark) {
    return text.find(mark) != std::string_view::npos;
  });
}

}  // namespace

bool claims_gpt_neox(std::string_view file, std::string_view text) {
  // DeepSpeed's own config has no shapes of a model.
  const bool shapes = has_any(text, {"train_micro_batch_size_per_gpu"}) &&
                      has_any(text, {"\"num_attention_heads\""});
  return (is_yaml_file(file) || file.ends_with(".json")) &&
         (shapes ||
          has_any(text, {"pipe_parallel_size", "pipe-parallel-size", "model-parallel-size\""})) &&
         !has_any(text, {"pipeline_model_parallel_size"});
}

void read_gpt_neox(PlanFile& plan, const FileReader& files) {
  Result<YamlNode> root = read_python_yaml(plan.text, plan.name, plan.findings);
  if (!root) return plan.findings.push_back(root.error());
  use_underscores(*root);
  FieldReader fields(plan.name, plan.findings);
  ForeignReading reading{fields, plan.draft, *root, files};
  read_foreign(reading, kNeoxKeys, plan);
  fill_neox(reading);
  fill_neox_model(reading);
  plan.ignored_keys.clear();  // data, learning rates and logging
  plan.keys = fields.keys();
}

bool claims_llm_foundry(std::string_view file, std::string_view text) {
  return is_yaml_file(file) &&
         has_any(text, {"device_train_microbatch_size:", "global_train_batch_size:"}) &&
         has_any(text, {"max_seq_len:", "fsdp_config:", "train_loader:"});
}

void read_llm_foundry(PlanFile& plan, const FileReader& files) {
  Result<YamlNode> root = read_python_yaml(plan.text, plan.name, plan.findings);
  if (!root) return plan.findings.push_back(root.error());
  YamlNode tree = unwrap_foundry(*root);
  resolve_references(tree);
  FieldReader fields(plan.name, plan.findings);
  ForeignReading reading{fields, plan.draft, tree, files};
  read_foreign(reading, kFoundryKeys, plan);
  fill_foundry(reading);
  plan.ignored_keys.clear();  // data, schedules and logging
  plan.keys = fields.keys();
}

bool claims_maxtext(std::string_view file, std::string_view text) {
  if (is_script_file(file))
    return has_any(text, {"MaxText", "maxtext"}) &&
           has_any(text, {"train.py", ".train ", "\"train\"", "sft_trainer", "train_sft",
                          "train_rl", "train_grpo", "train_distill", "train_compile"}) &&
           has_any(text, {"per_device_batch_size=", "ici_fsdp_parallelism=",
                          "ici_tensor_parallelism=", "max_target_length="});
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
  const YamlNode tree = apply_student(inner == nullptr ? *root : *inner);
  ForeignReading reading{fields, plan.draft, tree, files};
  if (const YamlNode* const model = find_path(*root, "modules.pre_trainer.model"))
    fields.under("model", *model, [&] { read_named_model(reading, *model); });
  read_maxtext_tree(reading, plan);
  plan.keys = fields.keys();
}

}  // namespace rankwright::importer
