// Reads the YAML configs of fine-tuning tools that run Hugging Face's Trainer: LLaMA-Factory,
// axolotl, and the recipes of TRL. Only full fine-tuning is read: adapters and quantized weights
// are refused by name. A DeepSpeed config that the file names is read too.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/import/framework/deepspeed.h"
#include "rankwright/import/framework/foreign.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/syntax/json_tree.h"

namespace rankwright::importer {
namespace {

/// Reads the name of a model on a hub: "meta-llama/Llama-3.1-8B-Instruct" has the shapes of
/// llama-3.1-8b. A name that the catalog does not have leaves the model open.
void read_hub_model(ForeignReading& r, const YamlNode& node) {
  constexpr std::string_view kVariants[] = {"-instruct", "-chat", "-base", "-hf", "-it"};
  std::string name = lower(node.scalar.substr(0, kLongestLabel));
  Result<model::Model> model = catalog::find_model(name);
  if (!model) model = catalog::find_model(name = name.substr(name.rfind('/') + 1));
  if (!model && name.starts_with("meta-")) model = catalog::find_model(name = name.substr(5));
  for (const std::string_view variant : kVariants) {
    const std::size_t at = name.find(variant);
    if (!model && at != std::string::npos) model = catalog::find_model(name.substr(0, at));
  }
  if (model) r.draft.model = std::move(*model);
}

void read_checkpointing(ForeignReading& r, const YamlNode& node) {
  r.draft.recompute = is_off(node) ? plan::Recompute::none : plan::Recompute::full;
}

void read_trainer_optimizer(ForeignReading& r, const YamlNode& node) {
  if (node.scalar.starts_with("adamw_torch") || node.scalar.starts_with("adamw_hf") ||
      node.scalar.starts_with("adamw_apex")) {
    r.draft.optimizer = plan::Optimizer::adam;
    return;
  }
  if (node.scalar == "sgd" || node.scalar.starts_with("lion_32bit")) {
    r.draft.optimizer = node.scalar == "sgd" ? plan::Optimizer::sgd : plan::Optimizer::lion;
    return;
  }
  report_left_out(
      r, node,
      fmt::format("optimizer {}: estimated with Adam's states", make_excerpt(node.scalar)));
}

/// Reports training that the estimate does not have: adapters, quantized weights.
void refuse_adapter(ForeignReading& r, const YamlNode& node) {
  if (is_off(node) || node.scalar == "full" || has_errors(r.fields.findings())) return;
  const bool plain = node.scalar == "true" || node.scalar == "True" || node.scalar.empty();
  r.fields.report(node, {.code = "RW0907",
                         .message = "unknown value",
                         .detail = fmt::format("{}: only full fine-tuning is estimated, without "
                                               "adapters (LoRA) and quantized weights",
                                               plain ? "this setting" : make_excerpt(node.scalar)),
                         .hint = "rankwright plan --model NAME, for full fine-tuning"});
}

/// Preference optimization also runs a frozen reference model.
void read_stage(ForeignReading& r, const YamlNode& node) {
  if (node.scalar == "sft" || node.scalar == "pt") return;
  report_left_out(r, node,
                  fmt::format("{}: only the trained model is counted, without a reference or "
                              "reward model",
                              make_excerpt(node.scalar)));
}

constexpr ForeignKey kFineTuningKeys[] = {
    {"finetuning_type", "", refuse_adapter},
    {"adapter", "", refuse_adapter},
    {"use_peft", "", refuse_adapter},
    {"load_in_4bit", "", refuse_adapter},
    {"load_in_8bit", "", refuse_adapter},
    {"quantization_bit", "", refuse_adapter},
    {"stage", "", read_stage},
    {"rl", "", read_stage},
    {"model_name_or_path", "model", read_hub_model},
    {"base_model", "model", read_hub_model},
    {"per_device_train_batch_size", "parallelism.micro_batch",
     whole<&Draft::micro_batch, kMaxMicroBatch>, true},
    {"micro_batch_size", "parallelism.micro_batch", whole<&Draft::micro_batch, kMaxMicroBatch>},
    {"gradient_accumulation_steps", "job.global_batch",
     whole<&Draft::accumulation, plan::kMaxBatch>},
    {"cutoff_len", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"sequence_len", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"max_seq_length", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"max_length", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"bf16", "job.param_dtype"},
    {"fp16", "job.param_dtype"},
    {"pure_bf16", "", nullptr, false, "optimizer states are estimated in fp32"},
    {"gradient_checkpointing", "parallelism.recompute", read_checkpointing},
    {"disable_gradient_checkpointing", "parallelism.recompute"},
    {"optim", "job.optimizer", read_trainer_optimizer},
    {"optimizer", "job.optimizer", read_trainer_optimizer},
    {"deepspeed", "parallelism.zero_stage"},
    {"fsdp", "parallelism.zero_stage"},
    {"fsdp_config", "parallelism.zero_stage"},
    {"fsdp_version", "parallelism.zero_stage"},
    {"tensor_parallel_size", "parallelism.tp_size", whole<&Draft::tp, kMaxDegree>, true},
    {"context_parallel_size", "parallelism.cp_size", whole<&Draft::cp, kMaxContext>, true},
    {"sequence_parallel_degree", "parallelism.cp_size", whole<&Draft::cp, kMaxContext>},
    {"expert_parallel_size", "parallelism.ep_size", whole<&Draft::ep, kMaxDegree>, true},
    {"dp_shard_size", "parallelism.dp_size"},
    {"dp_replicate_size", "parallelism.shard_size"},
    {"use_galore", "", nullptr, false, "estimated with Adam's states"},
    {"use_badam", "", nullptr, false, "estimated with Adam's states"},
};

/// Returns the ZeRO stage in the name of a DeepSpeed config: "ds_z3_config.json", "zero2.json".
std::optional<int> find_named_stage(std::string_view path) {
  const std::string name = lower(path.substr(path.rfind('/') + 1));
  for (const std::string_view word : {"zero_stage", "zero", "stage", "z"})
    for (std::size_t at = name.find(word); at != std::string::npos; at = name.find(word, at + 1)) {
      const std::size_t digit = at + word.size();
      if (digit < name.size() && name[digit] >= '0' && name[digit] <= '3') return name[digit] - '0';
    }
  return std::nullopt;
}

/// Reads the DeepSpeed config that the file names, beside it or from the current folder. If it
/// cannot be read, its name may state the stage.
void follow_deepspeed(ForeignReading& r, const YamlNode& named, PlanFile& plan) {
  r.draft.target = rules::Target::deepspeed;
  r.draft.framework = find_software(rules::Target::deepspeed);
  Result<std::string> text = r.files(beside(plan.name, named.scalar));
  if (!text) text = r.files(named.scalar);
  const Result<YamlNode> root =
      text ? read_commented_json_tree(*text, named.scalar) : Result<YamlNode>(fail(text.error()));
  r.draft.zero = find_named_stage(named.scalar).value_or(0);
  if (root) {
    FieldReader fields(named.scalar, plan.findings);
    ForeignReading reading{fields, r.draft, *root, r.files};
    return read_deepspeed_tree(reading, plan);
  }
  plan.open.push_back({"parallelism.zero_stage", fmt::format("ZeRO-{}", *r.draft.zero),
                       "put the DeepSpeed config beside the file"});
  r.fields.report(named, {.code = "RW0615",
                          .severity = Severity::note,
                          .message = "assumed a value that the file does not give",
                          .detail = fmt::format("ZeRO-{}, by its name: {} cannot be read",
                                                *r.draft.zero, make_excerpt(named.scalar)),
                          .hint = "put the DeepSpeed config beside the file"});
}

bool is_on_at(const ForeignReading& r, std::string_view path) {
  const YamlNode* const node = find_path(r.root, path);
  return node != nullptr && !is_off(*node);
}

/// Reads FSDP's settings, with or without its prefix.
void read_fsdp_settings(ForeignReading& r) {
  r.draft.zero = 3;
  for (const char* const path :
       {"fsdp_config.reshard_after_forward", "fsdp_config.fsdp_reshard_after_forward"})
    if (const YamlNode* const node = find_path(r.root, path); node != nullptr && is_off(*node))
      r.draft.zero = 2;
  for (const char* const path : {"fsdp_config.offload_params", "fsdp_config.fsdp_offload_params"})
    if (is_on_at(r, path)) r.draft.offload = true;
  for (const char* const path :
       {"fsdp_config.activation_checkpointing", "fsdp_config.fsdp_activation_checkpointing"})
    if (is_on_at(r, path)) r.draft.recompute = plan::Recompute::full;
}

void read_data_degrees(ForeignReading& r) {
  const std::optional<i64> shards = read_whole_at(r, "dp_shard_size", 1, kMaxDegree);
  const std::optional<i64> replicas = read_whole_at(r, "dp_replicate_size", 1, kMaxDegree);
  const std::optional<i64> dp = product({shards.value_or(1), replicas.value_or(1)});
  if (shards && dp && *dp <= kMaxDegree) r.draft.dp = dp;
  if (replicas > 1 && r.draft.zero > 0) r.draft.replicas = replicas;
}

/// The Trainer computes in 16 bits if told to; without DeepSpeed and FSDP it reduces in fp32.
void read_trainer_precision(ForeignReading& r) {
  if (is_on_at(r, "bf16") || is_on_at(r, "pure_bf16"))
    r.draft.param_dtype = plan::Dtype::bf16;
  else if (is_on_at(r, "fp16"))
    r.draft.param_dtype = plan::Dtype::fp16;
  else
    return;
  r.draft.grad_dtype = r.draft.zero > 0 ? r.draft.param_dtype : plan::Dtype::fp32;
}

}  // namespace

bool claims_fine_tuning(std::string_view file, std::string_view text) {
  if (claims_accelerate(file, text)) return false;
  const auto has = [&](std::string_view key) { return text.find(key) != std::string_view::npos; };
  return (file.ends_with(".yaml") || file.ends_with(".yml")) &&
         ((has("finetuning_type:") && has("model_name_or_path:")) ||
          (has("base_model:") && (has("sequence_len:") || has("datasets:"))) ||
          (has("model_name_or_path:") && has("per_device_train_batch_size:")));
}

void read_fine_tuning(PlanFile& plan, const FileReader& files) {
  const Result<YamlNode> root = read_python_yaml(plan.text, plan.name, plan.findings);
  if (!root) return plan.findings.push_back(root.error());
  FieldReader fields(plan.name, plan.findings);
  ForeignReading reading{fields, plan.draft, *root, files};
  Draft& draft = plan.draft;
  // LLaMA-Factory recomputes unless told not to.
  if (find_path(*root, "finetuning_type") != nullptr)
    draft.recompute = is_on_at(reading, "disable_gradient_checkpointing") ? plan::Recompute::none
                                                                          : plan::Recompute::full;
  read_foreign(reading, kFineTuningKeys, plan);
  // Experts are distributed by the tools themselves.
  if (draft.ep.value_or(1) == 1) draft.target = rules::Target::accelerate;
  draft.framework = find_software(rules::Target::accelerate);
  draft.zero = 0;
  draft.sequence_parallel = false;
  draft.order = mesh::kDefaultOrder;
  const YamlNode* const deepspeed = find_path(*root, "deepspeed");
  if (deepspeed != nullptr && deepspeed->kind == YamlNode::Kind::scalar && !is_off(*deepspeed))
    follow_deepspeed(reading, *deepspeed, plan);
  else if (is_on_at(reading, "fsdp") || is_on_at(reading, "fsdp_config") ||
           is_on_at(reading, "dp_shard_size"))
    read_fsdp_settings(reading);
  else  // accelerate's config, another file, may name them
    plan.open.push_back({"parallelism.zero_stage", "no ZeRO", "set zero_stage in a plan file"});
  read_data_degrees(reading);
  read_trainer_precision(reading);
  if (draft.cp > 1) draft.cp_comm = plan::CpComm::p2p;  // ring attention
  plan.ignored_keys.clear();  // data, logging and learning rates: most of such a file
  plan.keys = fields.keys();
}

}  // namespace rankwright::importer
