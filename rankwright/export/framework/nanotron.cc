// Writes nanotron's YAML config: the keys that a layout decides, and usual values of the keys that
// nanotron requires besides, marked as such. Data and checkpoints are left to the user. Its own
// config classes load the file (tests/frameworks).
#include <fmt/format.h>

#include "rankwright/export/rows.h"
#include "rankwright/export/typed.h"
#include "rankwright/model/architecture.h"

namespace rankwright::exporter {
namespace {

constexpr std::string_view kNanotronStates[] = {"parallelism.tp_size",
                                                "parallelism.cp_size",
                                                "parallelism.pp_size",
                                                "parallelism.dp_size",
                                                "parallelism.ep_size",
                                                "parallelism.order",
                                                "parallelism.schedule",
                                                "parallelism.recompute",
                                                "parallelism.zero_stage",
                                                "parallelism.stages",
                                                "parallelism.cp_comm",
                                                "parallelism.sequence_parallel",
                                                "parallelism.micro_batch",
                                                "parallelism.overlap.tp",
                                                "parallelism.shard_size",
                                                "model",
                                                "job.global_batch",
                                                "job.sequence",
                                                "job.param_dtype",
                                                "job.grad_dtype",
                                                "job.optimizer"};

constexpr std::string_view kNanotronDtypes[] = {"float32", "bfloat16", "float16", "bfloat16",
                                                "float32"};

bool is_qwen(const model::Model& model) { return model.layer(0).attention.qkv_bias; }

/// Returns whether nanotron's Llama or Qwen2 module, built from model_config(), is this model. Its
/// other modules are not for training.
bool has_module(const model::Model& model) {
  const model::Layer& layer = model.layer(0);
  // Nanotron's configs have no head_dim.
  if (layer.attention.head_dim * layer.attention.heads != model.hidden) return false;
  const Result<model::Model> read =
      model::build({.name = "read back",
                    .architecture = is_qwen(model) ? "qwen2" : "llama",
                    .hidden = model.hidden,
                    .layers = model.layers(),
                    .heads = layer.attention.heads,
                    .kv_heads = layer.attention.kv_heads,
                    .head_dim = layer.attention.head_dim,
                    .ffn = layer.ffn.width,
                    .vocab = model.vocab,
                    .max_sequence = model.max_sequence,
                    .tied = model.tied});
  return read && is_same_network(*read, model);
}

std::string model_config(const model::Model& model) {
  const model::Layer& layer = model.layer(0);
  std::string text = "  model_config:\n";
  const auto add = [&](std::string_view key, const auto& value) {
    text += fmt::format("    {}: {}\n", key, value);
  };
  add(is_qwen(model) ? "is_qwen2_config" : "is_llama_config", "true");
  add("hidden_size", model.hidden);
  add("num_hidden_layers", model.layers());
  add("num_attention_heads", layer.attention.heads);
  add("num_key_value_heads", layer.attention.kv_heads);
  if (is_qwen(model)) add("attention_bias", "true");  // for queries, keys and values
  add("intermediate_size", layer.ffn.width);
  add("vocab_size", model.vocab);
  if (model.max_sequence > 0) add("max_position_embeddings", model.max_sequence);
  add("tie_word_embeddings", write_yaml_value(model.tied));
  return text;
}

std::span<const std::string_view> list_nanotron_keys() { return kNanotronStates; }

std::vector<UnsupportedSetting> find_unsupported_by_nanotron(const plan::TrainingConfig& s) {
  std::vector<UnsupportedSetting> lost;
  if (!s.reference_model && !has_module(s.model))
    lost.push_back({"model", "it supports Llama and Qwen2 shapes: set model_config yourself"});
  if (s.plan.zero >= 1 && s.plan.cp > 1)
    lost.push_back({"parallelism.shard_size", "it shards over DP only, not over DP x CP"});
  const bool kept = s.job.param_dtype != plan::Dtype::fp8 && s.job.param_dtype != plan::Dtype::fp64;
  if (!kept) lost.push_back({"job.param_dtype", "it keeps parameters in 16 or 32 bits"});
  if (s.job.grad_dtype != plan::Dtype::fp32)
    lost.push_back({"job.grad_dtype", "it has master weights only with fp32 gradients"});
  if (s.job.optimizer != plan::Optimizer::adam && s.job.optimizer != plan::Optimizer::sgd)
    lost.push_back({"job.optimizer", "it has adamW and sgd"});
  return lost;
}

/// Returns a value that nanotron requires and that the layout does not decide.
std::string yours(std::string_view value) { return fmt::format("{}  # set your own", value); }

std::vector<ExportFile> write_nanotron(const plan::TrainingConfig& s, const ExportOptions&,
                                       const std::vector<std::string>& head) {
  const plan::Plan& p = s.plan;
  std::string text = write_comments(head, "#");
  const auto add = [&](std::string_view key, const auto& value) {
    text += fmt::format("  {}: {}\n", key, value);
  };
  text += "parallelism:\n";
  add("dp", p.dp);
  add("pp", p.pp);
  add("tp", p.tp);
  add("context_parallel_size", p.cp);
  add("expert_parallel_size", p.ep);
  add("pp_engine", p.schedule == pipeline::Schedule::gpipe ? "afab" : "1f1b");
  add("tp_mode", p.sequence_parallel ? "REDUCE_SCATTER" : "ALL_REDUCE");
  add("tp_linear_async_communication", write_yaml_value(p.overlap.tp));
  add("recompute_layer", write_yaml_value(p.recompute == plan::Recompute::full));
  text += "tokens:\n";
  add("sequence_length", s.job.sequence);
  add("micro_batch_size", p.micro_batch);
  add("batch_accumulation_per_replica", s.microbatches());
  add("train_steps", yours("1000"));
  text += "optimizer:\n";
  add("zero_stage", p.zero);
  add("accumulate_grad_in_fp32", "true");
  const bool sgd = s.job.optimizer == plan::Optimizer::sgd;
  text += fmt::format("  optimizer_factory:\n    name: {}\n", sgd ? "sgd" : "adamW");
  if (!sgd)
    text += fmt::format(
        "    adam_beta1: {}\n    adam_beta2: {}\n    adam_eps: {}\n    torch_adam_is_fused: true\n",
        yours("0.9"), yours("0.95"), yours("1.0e-8"));
  text += fmt::format(
      "  learning_rate_scheduler:\n    learning_rate: {}\n    lr_warmup_style: linear\n",
      yours("3.0e-4"));
  add("weight_decay", yours("0.1"));
  add("clip_grad", yours("1.0"));
  text += "model:\n";
  add("dtype", kNanotronDtypes[std::size_t(s.job.param_dtype)]);
  text += fmt::format("  init_method:\n    std: {}\n", yours("0.02"));
  if (!s.reference_model && has_module(s.model)) text += model_config(s.model);
  text += fmt::format("general:\n  project: {}\n", yours("rankwright"));
  return {{"nanotron.yaml", text}};
}

}  // namespace

constinit const Exporter kNanotronExporter{
    .target = rules::Target::nanotron,
    .summary = "nanotron YAML config",
    .states = list_nanotron_keys,
    .lost = find_unsupported_by_nanotron,
    .write = write_nanotron,
};

}  // namespace rankwright::exporter
