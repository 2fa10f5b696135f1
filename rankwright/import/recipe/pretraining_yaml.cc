// Reads the YAML configs of GPT-NeoX and llm-foundry, which state a model's shapes, the batch, and
// how states are sharded. Those of MaxText are in maxtext.cc.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/recipe/pretraining_parts.h"

namespace rankwright::importer {
namespace {

// GPT-NeoX.

/// The autotuner chooses one of a list of stages.
void read_neox_zero(ForeignReading& r, const YamlNode& node) {
  constexpr Word<int> kWords[] = {{"0", 0}, {"1", 1}, {"2", 2}, {"3", 3}};
  const bool list = node.kind == YamlNode::Kind::sequence && !node.items.empty();
  r.draft.zero = parse_word(r, list ? node.items.back() : node, kWords);
  if (list) report_left_out(r, node, "the tuner chooses a stage: estimated with the last one");
}

/// 0 stages are one stage without the pipeline's engine, and 0 tensor ranks are one rank.
template <std::optional<i64> Draft::*member>
void read_degree(ForeignReading& r, const YamlNode& node) {
  const std::optional<i64> n = r.fields.whole(node, 0, kMaxDegree);
  if (n) r.draft.*member = std::max<i64>(1, *n);
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
    {"pipe_parallel_size", "parallelism.pp_size", read_degree<&Draft::pp>},
    {"model_parallel_size", "parallelism.tp_size", read_degree<&Draft::tp>},
    {"context_parallel_size", "parallelism.cp_size", whole<&Draft::cp, kMaxContext>},
    {"sequence_parallel", "parallelism.sequence_parallel", python_flag<&Draft::sequence_parallel>},
    {"global_num_gpus", "world_size", whole<&Draft::world, cluster::kMaxDevices>},
    {"num_gpus", "node_shape"},
    {"num_nodes", "node_shape"},
    {"num_layers", "model", shape<&model::Shapes::layers>},
    {"hidden_size", "model", shape<&model::Shapes::hidden>},
    {"num_attention_heads", "model", shape<&model::Shapes::heads>},
    {"num_kv_heads", "model", shape<&model::Shapes::kv_heads>},
    {"intermediate_size", "model", shape<&model::Shapes::ffn>},
    {"vocab_size", "model", shape<&model::Shapes::vocab>},
    {"padded_vocab_size", "model", shape<&model::Shapes::vocab>},
    {"max_position_embeddings", "model"},
    {"mlp_multiple_of", "model"},
    {"attention_config", "software.attention"},
    {"pos_emb", "model"},
    {"no_weight_tying", "model"},
    {"norm", "model"},
    {"activation", "model"},
    {"mlp_type", "model"},
    {"use_bias_in_norms", "model"},
    {"use_bias_in_attn_linear", "model"},
    {"use_bias_in_mlp", "model"},
    {"moe_num_experts", "model"},
    {"moe_top_k", "model"},
    {"moe_expert_interval", "model"},
    {"moe_expert_parallel_size", "parallelism.ep_size", whole<&Draft::ep, kMaxDegree>},
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
    {"fp16.type", "job.param_dtype"},
    {"bf16.enabled", "job.param_dtype"},
    {"checkpoint_activations", "parallelism.recompute", read_full_recompute},
    {"partition_activations", ""},
    {"checkpoint_num_layers", "parallelism.recompute"},
    {"data_types.grad_accum_dtype", "job.grad_dtype"},
    {"optimizer.type", "job.optimizer", read_neox_optimizer},
    {"train_impl", "job.method"},
    {"dpo_reference_free", "job.ref_model"},
    {"precompute_model_name", "job.ref_model"},
    {"curriculum_learning.enabled", "", nullptr, false, "every step is estimated as the longest"},
    {"sliding_window_width", "", nullptr, false, "attention is estimated without the window"},
    {"num_unique_layers", "", nullptr, false, "no layers are estimated as sharing parameters"},
    {"moe_use_residual", "", nullptr, false, "estimated without the dense layer beside experts"},
    {"soft_prompt_tuning.enabled", "", nullptr, false, kAllTrained},
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

/// Reads experts as wide as the layer, in every layer or every n-th one; returns whether there are
/// any. They have no biases, and learned positions are left out.
bool read_neox_experts(ForeignReading& r, bool biased_norms) {
  model::Shapes& s = r.shapes;
  const i64 experts = read_whole_at(r, "moe_num_experts", 1, kMaxCount).value_or(1);
  if (experts == 1) return false;
  s.experts = experts;
  s.active_experts = read_whole_at(r, "moe_top_k", 1, experts).value_or(1);
  s.expert_ffn = s.ffn;
  s.sparse_every = read_whole_at(r, "moe_expert_interval", 1, model::kMaxLayers).value_or(1);
  s.norm_bias = biased_norms;
  s.ffn_bias = false;
  for (std::optional<bool>* const bias : {&s.qkv_bias, &s.out_bias})
    if (!*bias) *bias = true;
  return true;
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
  // MLPs of other kinds than attention: those of forks.
  constexpr std::string_view kKinds[] = {"global", "flash",        "fixed",   "all",   "local",
                                         "sparse", "bslongformer", "bigbird", "mamba", "rwkv"};
  if (!kind.empty() &&
      std::none_of(std::begin(kKinds), std::end(kKinds),
                   [&](std::string_view one) { return kind.find(one) != std::string::npos; }))
    report_left_out(r, *kinds, "attention_config: estimated as attention of GPT-NeoX's layers");
  // The width of gated layers counts their three matrices together, but for those of LLaMA's MLP,
  // which states that of one.
  const bool one_matrix = s.ffn > 0 && word_at(r, "mlp_type") == "llama";
  if (s.ffn == 0) {
    s.ffn = std::min(s.hidden, kMaxCount / 16) * (gated ? 8 : 4);
    if (gated && word_at(r, "mlp_type").empty())
      r.fields.report(r.root,
                      make_assumption("feed-forward layers of 8/3 of the hidden size, which are "
                                      "twice the hidden size in GPT-NeoX before 2024-10",
                                      "state intermediate_size"));
  }
  if (gated && !one_matrix) {
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
  constexpr i64 kCharacters = 512;  // of megatron/tokenizer's CharLevelTokenizer
  constexpr i64 kPadded = 50304;    // GPT-2's and GPT-NeoX's tokenizers, padded to 128
  if (s.vocab == 0 && word_at(r, "tokenizer_type") == "CharLevelTokenizer") s.vocab = kCharacters;
  if (s.vocab == 0) assume_vocabulary(r, kPadded);
  if (read_neox_experts(r, s.norm_bias.value_or(true)))
    return build_shapes(r, "mixtral", "hidden_size");
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

void read_attention_type(ForeignReading& r, const YamlNode& node) {
  for (const std::string_view known :
       {"multihead_attention", "multiquery_attention", "grouped_query_attention"})
    if (node.scalar == known) return;
  report_left_out(r, node,
                  fmt::format("attn_type {}: estimated as attention over the whole sequence",
                              make_excerpt(node.scalar)));
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
    {"model.attn_config.attn_type", "model", read_attention_type},
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
    {"gpu_num", "world_size", whole<&Draft::world, cluster::kMaxDevices>},
};

/// MPT learns positions unless it is told otherwise or has others (MPTConfig).
void fill_foundry_positions(ForeignReading& r) {
  const YamlNode* const learned = find_path(r.root, "model.learned_pos_emb");
  model::Shapes& s = r.shapes;
  const bool others = is_on_at_path(r, "model.attn_config.alibi") ||
                      is_on_at_path(r, "model.attn_config.rope") || is_on_at_path(r, "model.alibi");
  if (others || (learned != nullptr && is_off(*learned))) return;
  std::optional<i64> length = read_whole_at(r, "model.max_seq_len", 1, kMaxSequence);
  constexpr i64 kUsualLength = 2048;  // of MPTConfig
  s.positions = length.value_or(r.draft.sequence.value_or(kUsualLength));
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
  if (word_at(r, "model.name") == "mpt_causal_lm") {  // MPTConfig's defaults
    if (s.hidden == 0) s.hidden = 2048;
    if (s.heads == 0) s.heads = 16;
    if (s.layers == 0) s.layers = 24;
    if (s.vocab == 0) s.vocab = 50368;
    d.model.reset();  // it does not load one
  }
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
    const char* const place =
        find_path(r.root, "model.d_model") != nullptr ? "model.d_model" : "model.name";
    build_shapes(r, width ? "llama" : s.positions > 0 ? "gpt2" : "mpt", place);
  }
  // A larger micro-batch than the batch of a device is reduced to it
  // (llmfoundry/utils/config_utils.py).
  if (d.micro_batch && d.global_batch) d.micro_batch = std::min(*d.micro_batch, *d.global_batch);
  const YamlNode* const sharding = find_path(r.root, "fsdp_config.sharding_strategy");
  if (sharding != nullptr && sharding->scalar.find("HYBRID") != std::string::npos) {
    if (d.shape && d.shape->nodes > 1) d.replicas = d.shape->nodes;
    if (!d.shape)
      report_left_out(r, *sharding,
                      "HYBRID_SHARD: states on several nodes are estimated as sharded over all of "
                      "them");
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

}  // namespace

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

bool has_any(std::string_view text, std::initializer_list<std::string_view> marks) {
  return std::any_of(marks.begin(), marks.end(), [&](std::string_view mark) {
    return text.find(mark) != std::string_view::npos;
  });
}

bool claims_gpt_neox(std::string_view file, std::string_view text) {
  if (claims_neox_script(file, text)) return true;
  // DeepSpeed's own config has no shapes of a model.
  const bool shapes = has_any(text, {"train_micro_batch_size_per_gpu"}) &&
                      has_any(text, {"\"num_attention_heads\"", "\"num-attention-heads\""});
  return (is_yaml_file(file) || file.ends_with(".json")) &&
         (shapes ||
          has_any(text, {"pipe_parallel_size", "pipe-parallel-size", "model-parallel-size\""})) &&
         !has_any(text, {"pipeline_model_parallel_size"});
}

void read_neox_tree(ForeignReading& reading, YamlNode& tree, PlanFile& plan) {
  use_underscores(tree);
  reading.known = &KnownKeys::find("gpt-neox");
  reading.launcher_keys = {"nodes", "gpus_per_node"};
  read_foreign(reading, kNeoxKeys, plan);
  // A launcher without a file of hosts starts the ranks of one.
  const bool hosts = find_path(reading.root, "hostfile") != nullptr &&
                     word_at(reading, "hostfile").find("mock") == std::string::npos;
  if (!reading.draft.world && (!hosts || find_path(reading.root, "num_nodes") != nullptr) &&
      find_path(reading.root, "num_gpus") != nullptr)
    read_node_shape(reading, "num_nodes", "num_gpus", 1, std::nullopt);
  fill_neox(reading);
  fill_neox_model(reading);
}

void read_gpt_neox(PlanFile& plan, const FileReader& files) {
  if (is_script_file(plan.name)) return read_neox_script(plan, files);
  Result<YamlNode> root = read_python_yaml(plan.text, plan.name, plan.findings);
  if (!root) return plan.findings.push_back(root.error());
  FieldReader fields(plan.name, plan.findings);
  ForeignReading reading{fields, plan.draft, *root, files};
  read_neox_tree(reading, *root, plan);
  plan.keys = fields.keys();
}

/// Composer's launcher has the config under `parameters`, and FSDP's settings moved to
/// `parallelism_config.fsdp`.
YamlNode unwrap_foundry(const YamlNode& root) {
  const YamlNode* const inner = root.find("parameters");
  YamlNode tree = inner != nullptr && inner->kind == YamlNode::Kind::map ? *inner : root;
  if (inner != nullptr)
    for (const YamlEntry& entry : root.entries)
      if (entry.key.scalar == "compute" || entry.key.scalar == "gpu_num")
        tree.entries.push_back(entry);
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

std::span<const ForeignKey> foundry_keys() { return kFoundryKeys; }

void read_foundry_tree(ForeignReading& reading, PlanFile& plan) {
  reading.known = &KnownKeys::find("llm-foundry");
  reading.launcher_keys.insert(reading.launcher_keys.end(), {"nodes", "gpus-per-node"});
  read_foreign(reading, kFoundryKeys, plan);
  fill_foundry(reading);
  plan.ignored_keys.clear();  // data, schedules and logging
}

bool claims_llm_foundry(std::string_view file, std::string_view text) {
  if (claims_foundry_script(file, text)) return true;
  return is_yaml_file(file) &&
         has_any(text, {"device_train_microbatch_size:", "global_train_batch_size:"}) &&
         has_any(text, {"max_seq_len:", "fsdp_config:", "train_loader:"});
}

void read_llm_foundry(PlanFile& plan, const FileReader& files) {
  if (is_script_file(plan.name)) return read_foundry_script(plan, files);
  Result<YamlNode> root = read_python_yaml(plan.text, plan.name, plan.findings);
  if (!root) return plan.findings.push_back(root.error());
  YamlNode tree = unwrap_foundry(*root);
  resolve_references(tree);
  FieldReader fields(plan.name, plan.findings);
  ForeignReading reading{fields, plan.draft, tree, files};
  read_foundry_tree(reading, plan);
  plan.keys = fields.keys();
}

}  // namespace rankwright::importer
