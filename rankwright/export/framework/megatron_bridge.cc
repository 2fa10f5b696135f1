// Writes a plan for Megatron-Bridge: Python functions that set the fields of a ConfigContainer,
// such as a recipe returns. Every field that the layout decides is set, including features that are
// off, because a recipe has its own values. Data, tokenizer and learning rates stay the recipe's.
// Checked against Megatron-Bridge 0.7 dev.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/export/framework/megatron_settings.h"
#include "rankwright/export/quote.h"
#include "rankwright/export/rows.h"

namespace rankwright::exporter {
namespace {

/// Lines of a Python function's body.
struct Body {
  std::string text{};

  void set(std::string_view field, std::string_view value) {
    text += fmt::format("    cfg.{} = {}\n", field, value);
  }
  void set(std::string_view field, i64 value) { set(field, std::to_string(value)); }
  void set(std::string_view field, bool value) {
    set(field, std::string_view(value ? "True" : "False"));
  }
  void set(std::string_view field, const char* value) { set(field, std::string_view(value)); }
};

/// Returns the setting of `flag`, or null.
const MegatronSetting* find(const std::vector<MegatronSetting>& rows, std::string_view flag) {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const MegatronSetting& row) { return row.flag == flag; });
  return found == rows.end() ? nullptr : &*found;
}

/// Return the flag's value as a number or as a quoted word, or None if the flag is not set.
std::string number_or_none(const std::vector<MegatronSetting>& rows, std::string_view flag) {
  const MegatronSetting* const row = find(rows, flag);
  return row == nullptr ? "None" : row->value;
}
std::string word_or_none(const std::vector<MegatronSetting>& rows, std::string_view flag) {
  const MegatronSetting* const row = find(rows, flag);
  return row == nullptr ? "None" : quote_python(row->value);
}

std::string torch_dtype(plan::Dtype dtype) {
  if (dtype == plan::Dtype::fp32 || dtype == plan::Dtype::fp64) return "torch.float32";
  return dtype == plan::Dtype::fp16 ? "torch.float16" : "torch.bfloat16";
}

/// Returns the MixedPrecisionConfig, which holds all number formats of Megatron-Bridge.
std::string write_mixed_precision(const plan::TrainingConfig& s) {
  const plan::Job& job = s.job;
  constexpr std::string_view kFormats[] = {"fp32", "bf16", "fp16", "bf16", "fp32"};
  const std::string dtype = torch_dtype(job.param_dtype);
  std::string text = fmt::format(
      "MixedPrecisionConfig(\n        {}=True,\n        params_dtype={},\n        "
      "pipeline_dtype={},\n        grad_reduce_in_fp32={},\n",
      kFormats[std::size_t(job.param_dtype)], dtype, dtype,
      job.grad_dtype == plan::Dtype::fp32 ? "True" : "False");
  if (job.matmul == plan::Matmul::fp8)
    text += fmt::format("        fp8=\"hybrid\",\n        fp8_recipe=\"{}\",\n",
                        choose_fp8_recipe(s.plan));
  if (job.matmul == plan::Matmul::mxfp8)
    text += "        fp8=\"e4m3\",\n        fp8_recipe=\"mxfp8\",\n";
  if (job.matmul == plan::Matmul::fp4)
    text += "        fp4=\"e2m1\",\n        fp4_recipe=\"nvfp4\",\n";
  return text + "    )";
}

std::string write_comm_overlap(const plan::Plan& p) {
  const bool sends = p.virtual_stages > 1 && p.overlap.pp;
  const auto flag = [](bool on) { return on ? "True" : "False"; };
  std::string text = fmt::format(
      "CommOverlapConfig(\n        tp_comm_overlap=False,\n        overlap_p2p_comm={},\n        "
      "batch_p2p_comm={},\n        overlap_grad_reduce={},\n        overlap_param_gather={},\n",
      flag(sends), flag(p.pp > 1 && !sends), flag(p.overlap.grad_reduce),
      flag(p.overlap.param_gather));
  if (p.overlap.ep)
    text += fmt::format(
        "        overlap_moe_expert_parallel_comm=True,\n        delay_wgrad_compute={},\n",
        flag(p.overlap.wgrad));
  return text + "    )";
}

std::string write_layout(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  const std::vector<MegatronSetting> rows = list_megatron_layout(s);
  Body b;
  b.set("model.tensor_model_parallel_size", p.tp);
  b.set("model.sequence_parallel", p.sequence_parallel && p.tp > 1);
  b.set("model.context_parallel_size", p.cp);
  b.set("model.cp_comm_type", word_or_none(rows, "cp-comm-type"));
  b.set("model.pipeline_model_parallel_size", p.pp);
  b.set("model.pipeline_dtype", p.pp > 1 ? torch_dtype(s.job.param_dtype) : "None");
  const bool chunks = p.virtual_stages > 1;
  b.set("model.virtual_pipeline_model_parallel_size",
        chunks ? std::to_string(p.virtual_stages) : "None");
  b.set("model.pipeline_model_parallel_layout",
        word_or_none(rows, "pipeline-model-parallel-layout"));
  if (chunks)
    b.set("model.microbatch_group_size_per_vp_stage",
          number_or_none(rows, "microbatch-group-size-per-virtual-pipeline-stage"));
  b.set("model.expert_model_parallel_size", p.ep);
  b.set("model.expert_tensor_parallel_size", s.model.sparse() ? p.etp : p.tp);
  if (p.ep > 1) {
    b.set("model.moe_token_dispatcher_type", word_or_none(rows, "moe-token-dispatcher-type"));
    const std::string backend = word_or_none(rows, "moe-flex-dispatcher-backend");
    if (p.dispatcher != plan::Dispatcher::alltoall && backend == "None")
      b.set("model.moe_enable_deepep", true);
    else if (p.dispatcher != plan::Dispatcher::alltoall)
      b.set("model.moe_flex_dispatcher_backend", backend);
  }
  b.set("dist.use_tp_pp_dp_mapping", find(rows, "use-tp-pp-dp-mapping") != nullptr);
  b.set("ddp.use_distributed_optimizer", p.zero >= 1);
  b.set("optimizer.use_distributed_optimizer", p.zero >= 1);
  b.set("ddp.use_megatron_fsdp", p.zero >= 2);
  b.set("dist.use_megatron_fsdp", p.zero >= 2);
  const std::string strategy = word_or_none(rows, "data-parallel-sharding-strategy");
  b.set("ddp.data_parallel_sharding_strategy", strategy == "None" ? "\"no_shard\"" : strategy);
  const MegatronSetting* const instances = find(rows, "num-distributed-optimizer-instances");
  const std::string parts = instances == nullptr ? "1" : instances->value;
  b.set("ddp.num_distributed_optimizer_instances", parts);
  b.set("ddp.bucket_size", number_or_none(rows, "ddp-bucket-size"));
  b.set("ddp.overlap_grad_reduce", p.overlap.grad_reduce);
  b.set("ddp.overlap_param_gather", p.overlap.param_gather);
  b.set("ddp.grad_reduce_in_fp32", s.job.grad_dtype == plan::Dtype::fp32);
  if (p.zero >= 2) b.set("checkpoint.ckpt_format", "\"fsdp_dtensor\"");
  b.set("comm_overlap", write_comm_overlap(p));
  b.set("mixed_precision", write_mixed_precision(s));
  b.set("model.recompute_granularity", word_or_none(rows, "recompute-granularity"));
  if (p.recompute == plan::Recompute::selective)
    b.set("model.recompute_modules", fmt::format("[\"{}\"]", show(p.modules, "\", \"")));
  b.set("model.recompute_method", word_or_none(rows, "recompute-method"));
  b.set("model.recompute_num_layers", number_or_none(rows, "recompute-num-layers"));
  if (s.job.fp8_swiglu_input) b.set("model.activation_func_fp8_input_store", true);
  b.set("optimizer.optimizer", word_or_none(rows, "optimizer"));
  b.set("train.micro_batch_size", p.micro_batch);
  b.set("train.global_batch_size", s.job.global_batch);
  b.set("model.seq_length", s.job.sequence);
  b.set("dataset.seq_length", s.job.sequence);
  return b.text;
}

/// A field of a model provider and the Megatron-LM flag with the same meaning.
struct ModelField {
  enum class Kind : unsigned char { number, word, yes, no, expression };
  std::string_view flag, field;
  Kind kind = Kind::number;
  bool latent = false;  // only providers with latent attention have the field
};

constexpr ModelField kModelFields[] = {
    {"num-layers", "num_layers"},
    {"hidden-size", "hidden_size"},
    {"ffn-hidden-size", "ffn_hidden_size"},
    {"num-attention-heads", "num_attention_heads"},
    {"kv-channels", "kv_channels"},
    {"qk-layernorm", "qk_layernorm", ModelField::Kind::yes},
    {"multi-latent-attention", "multi_latent_attention", ModelField::Kind::yes},
    {"q-lora-rank", "q_lora_rank", ModelField::Kind::number, true},
    {"kv-lora-rank", "kv_lora_rank", ModelField::Kind::number, true},
    {"qk-head-dim", "qk_head_dim", ModelField::Kind::number, true},
    {"qk-pos-emb-head-dim", "qk_pos_emb_head_dim", ModelField::Kind::number, true},
    {"v-head-dim", "v_head_dim", ModelField::Kind::number, true},
    {"num-experts", "num_moe_experts"},
    {"moe-router-topk", "moe_router_topk"},
    {"moe-router-num-groups", "moe_router_num_groups"},
    {"moe-router-group-topk", "moe_router_group_topk"},
    {"moe-ffn-hidden-size", "moe_ffn_hidden_size"},
    {"moe-shared-expert-intermediate-size", "moe_shared_expert_intermediate_size"},
    {"moe-shared-expert-gate", "moe_shared_expert_gate", ModelField::Kind::yes},
    {"moe-router-score-function", "moe_router_score_function", ModelField::Kind::word},
    {"moe-router-enable-expert-bias", "moe_router_enable_expert_bias", ModelField::Kind::yes},
    {"moe-layer-freq", "moe_layer_freq", ModelField::Kind::expression},
    {"normalization", "normalization", ModelField::Kind::word},
    {"swiglu", "gated_linear_unit", ModelField::Kind::yes},
    {"disable-bias-linear", "add_bias_linear", ModelField::Kind::no},
    {"add-qkv-bias", "add_qkv_bias", ModelField::Kind::yes},
    {"untie-embeddings-and-output-weights", "share_embeddings_and_output_weights",
     ModelField::Kind::no},
    {"position-embedding-type", "position_embedding_type", ModelField::Kind::word},
    {"attention-dropout", "attention_dropout"},
    {"hidden-dropout", "hidden_dropout"},
    {"mtp-num-layers", "mtp_num_layers"},
    {"vocab-size", "vocab_size"},
};

std::string write_model(const plan::TrainingConfig& s) {
  const std::vector<MegatronSetting> rows = list_megatron_model(s);
  const bool latent = find(rows, "multi-latent-attention") != nullptr;
  Body b;
  for (const ModelField& field : kModelFields) {
    using Kind = ModelField::Kind;
    if (field.latent && !latent) continue;
    const MegatronSetting* const row = find(rows, field.flag);
    const std::string name = fmt::format("model.{}", field.field);
    if (field.kind == Kind::yes || field.kind == Kind::no)
      b.set(name, (row != nullptr) == (field.kind == Kind::yes));
    else if (row != nullptr)
      b.set(name, field.kind == Kind::word ? quote_python(row->value) : row->value);
    else if (field.kind == Kind::expression)
      b.set(name, std::string_view("1"));
    else if (field.kind == Kind::number && !field.field.ends_with("_dropout"))
      b.set(name, std::string_view("None"));
  }
  // Never turned off: recipes of other models need it as well.
  if (find(rows, "moe-router-pre-softmax") != nullptr) b.set("model.moe_router_pre_softmax", true);
  b.set("model.num_query_groups", find(rows, "num-query-groups") != nullptr
                                      ? number_or_none(rows, "num-query-groups")
                                      : number_or_none(rows, "num-attention-heads"));
  b.set("model.activation_func", find(rows, "swiglu") != nullptr ? "F.silu" : "F.gelu");
  return b.text;
}

/// Megatron-Bridge sets fields of megatron-core for which Megatron-LM has no flag.
std::span<const std::string_view> list_megatron_bridge_keys() {
  static const std::vector<std::string_view> keys = [] {
    const std::span<const std::string_view> shared = list_megatron_keys();
    std::vector<std::string_view> all(shared.begin(), shared.end());
    all.push_back("job.fp8_swiglu_input");
    return all;
  }();
  return keys;
}

std::vector<UnsupportedSetting> find_unsupported_by_megatron_bridge(const plan::TrainingConfig& s) {
  std::vector<UnsupportedSetting> lost = find_unsupported_by_megatron(s);
  if (s.plan.overlap.tp)
    lost.push_back({"parallelism.overlap.tp",
                    "tp_comm_overlap needs a tp_comm_overlap_cfg for these shapes: see "
                    "megatron.bridge.training.comm_overlap"});
  return lost;
}

std::vector<ExportFile> write_megatron_bridge(const plan::TrainingConfig& s, const ExportOptions&,
                                              const std::vector<std::string>& head) {
  std::string text = std::string(kPythonEncoding) + write_comments(head, "#");
  const bool with_model = !list_megatron_model(s).empty();
  text += "import torch\n";
  if (with_model) text += "import torch.nn.functional as F\n";
  text +=
      "from megatron.bridge.training.comm_overlap import CommOverlapConfig\n"
      "from megatron.bridge.training.mixed_precision import MixedPrecisionConfig\n"
      "\n"
      "\n"
      "def set_layout(cfg):\n"
      "    \"\"\"Sets the layout on the ConfigContainer of a recipe.\"\"\"\n";
  text += write_layout(s) + "    return cfg\n";
  if (with_model)
    text +=
        "\n"
        "\n"
        "def set_model(cfg):\n"
        "    \"\"\"Sets the shapes on the model provider. The recipe of this model already has "
        "them.\"\"\"\n" +
        write_model(s) + "    return cfg\n";
  return {{"megatron_bridge.py", text}};
}

}  // namespace

constinit const Exporter kMegatronBridgeExporter{
    .target = rules::Target::megatron_bridge,
    .summary = "Python settings for Megatron-Bridge",
    .states = list_megatron_bridge_keys,
    .lost = find_unsupported_by_megatron_bridge,
    .write = write_megatron_bridge,
};

}  // namespace rankwright::exporter
