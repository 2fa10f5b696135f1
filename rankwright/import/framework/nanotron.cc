// Reads nanotron's YAML config (checked against nanotron 0.4).
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "rankwright/base/format.h"
#include "rankwright/import/framework/foreign.h"
#include "rankwright/import/plan/hf_config.h"
#include "rankwright/import/plan/plan_format.h"

namespace rankwright::importer {
namespace {

void read_pp_engine(ForeignReading& r, const YamlNode& node) {
  constexpr Word<pipeline::Schedule> kWords[] = {{"1f1b", pipeline::Schedule::one_f_one_b},
                                                 {"afab", pipeline::Schedule::gpipe}};
  r.draft.schedule = parse_word(r, node, kWords);
}

void read_tp_mode(ForeignReading& r, const YamlNode& node) {
  constexpr Word<bool> kWords[] = {{"REDUCE_SCATTER", true},
                                   {"ALL_REDUCE", false},
                                   {"reduce_scatter", true},
                                   {"all_reduce", false}};
  r.draft.sequence_parallel = parse_word(r, node, kWords);
}

void read_recompute_layer(ForeignReading& r, const YamlNode& node) {
  if (const std::optional<bool> on = r.fields.flag(node))
    r.draft.recompute = *on ? plan::Recompute::full : plan::Recompute::none;
}

void read_nanotron_zero(ForeignReading& r, const YamlNode& node) {
  constexpr Word<int> kWords[] = {{"0", 0}, {"1", 1}, {"2", 2}, {"3", 3}};
  r.draft.zero = parse_word(r, node, kWords);
}

/// Read after the parameter format. The accumulator has the fp32 weights, too: without it,
/// gradients, weights and optimizer states have the format of the parameters (helpers.py).
void read_accumulate_grad_in_fp32(ForeignReading& r, const YamlNode& node) {
  const std::optional<bool> on = r.fields.flag(node);
  if (!on) return;
  Draft& d = r.draft;
  d.grad_dtype = *on ? plan::Dtype::fp32 : d.param_dtype.value_or(plan::Dtype::bf16);
  if (!*on) d.master_dtype = d.moment_dtype = d.grad_dtype;
}

void read_nanotron_optimizer(ForeignReading& r, const YamlNode& node) {
  constexpr Word<plan::Optimizer> kWords[] = {{"adamW", plan::Optimizer::adam},
                                              {"sgd", plan::Optimizer::sgd},
                                              {"muon", plan::Optimizer::muon}};
  for (const auto& [word, optimizer] : kWords)
    if (lower(node.scalar.substr(0, kLongestLabel)) == lower(word)) {
      r.draft.optimizer = optimizer;
      return;
    }
  // Forks have optimizers of their own.
  r.draft.optimizer = plan::Optimizer::adam;
  report_left_out(r, node,
                  fmt::format("optimizer_factory.name {}: estimated with Adam's states",
                              make_excerpt(node.scalar)));
}

void read_dtype(ForeignReading& r, const YamlNode& node) {
  constexpr Word<plan::Dtype> kWords[] = {{"bfloat16", plan::Dtype::bf16},
                                          {"float16", plan::Dtype::fp16},
                                          {"float32", plan::Dtype::fp32}};
  r.draft.param_dtype = parse_word(r, node, kWords);
}

/// On by default; if off, the gathered inputs of tp are kept for backward.
void read_tp_recompute_allgather(ForeignReading& r, const YamlNode& node) {
  if (r.fields.flag(node) == false)
    report_left_out(r, node,
                    "parallelism.tp_recompute_allgather: the estimate gathers the inputs again in "
                    "the backward pass");
}

constexpr ForeignKey kNanotronKeys[] = {
    {"parallelism.dp", "parallelism.dp_size", whole<&Draft::dp, kMaxDegree>, true},
    {"parallelism.pp", "parallelism.pp_size", whole<&Draft::pp, kMaxDegree>, true},
    {"parallelism.tp", "parallelism.tp_size", whole<&Draft::tp, kMaxDegree>, true},
    {"parallelism.context_parallel_size", "parallelism.cp_size", whole<&Draft::cp, kMaxContext>,
     true},
    {"parallelism.expert_parallel_size", "parallelism.ep_size", whole<&Draft::ep, kMaxDegree>,
     true},
    {"parallelism.pp_engine", "parallelism.schedule", read_pp_engine},
    {"parallelism.tp_mode", "parallelism.sequence_parallel", read_tp_mode},
    {"parallelism.tp_linear_async_communication", "parallelism.overlap.tp",
     flag<&Draft::overlap_tp>, true},
    {"parallelism.recompute_layer", "parallelism.recompute", read_recompute_layer},
    {"optimizer.zero_stage", "parallelism.zero_stage", read_nanotron_zero, true},
    {"tokens.micro_batch_size", "parallelism.micro_batch",
     whole<&Draft::micro_batch, kMaxMicroBatch>, true},
    {"tokens.batch_accumulation_per_replica", "job.global_batch",
     whole<&Draft::accumulation, plan::kMaxBatch>},
    {"tokens.sequence_length", "job.sequence", whole<&Draft::sequence, kMaxSequence>, true},
    {"optimizer.optimizer_factory.name", "job.optimizer", read_nanotron_optimizer},
    {"model.dtype", "job.param_dtype", read_dtype},
    {"optimizer.accumulate_grad_in_fp32", "job.grad_dtype", read_accumulate_grad_in_fp32},
    {"model.model_config", "model"},
    {"parallelism.moe_layer_recompute", "", nullptr, false,
     "the estimate keeps the activations of experts"},
    {"parallelism.tp_recompute_allgather", "", read_tp_recompute_allgather},
};

/// Adds experts under the keys of Qwen's config; they default to the width of the dense layers.
void add_experts(nlohmann::json& config, const YamlNode& moe) {
  const auto copy = [&](std::string_view from, const char* to) {
    const YamlNode* const value = moe.find(from);
    if (value != nullptr) config[to] = nlohmann::json::parse(value->scalar, nullptr, false);
  };
  config["model_type"] = "qwen2_moe";
  if (config.contains("intermediate_size"))
    config["moe_intermediate_size"] = config["intermediate_size"];
  copy("num_experts", "num_experts");
  copy("top_k", "num_experts_per_tok");
  copy("moe_intermediate_size", "moe_intermediate_size");
  copy("shared_expert_intermediate_size", "shared_expert_intermediate_size");
}

/// Returns the scalars of a map as a config.json with this model_type.
std::string config_json(const YamlNode& map, std::string_view model_type) {
  nlohmann::json config = nlohmann::json::object();
  for (const YamlEntry& entry : map.entries) {
    if (entry.value.kind != YamlNode::Kind::scalar) continue;
    const nlohmann::json value = nlohmann::json::parse(entry.value.scalar, nullptr, false);
    config[entry.key.scalar] = value.is_discarded() ? nlohmann::json(entry.value.scalar) : value;
  }
  config["model_type"] = model_type;
  if (const YamlNode* const experts = map.find("moe_num_experts")) {
    config["model_type"] = "mixtral";
    config["num_local_experts"] = nlohmann::json::parse(experts->scalar, nullptr, false);
  }
  if (const YamlNode* const moe = map.find("moe_config");
      moe != nullptr && moe->kind == YamlNode::Kind::map)
    add_experts(config, *moe);
  return config.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

/// The experts of nanotron's examples/moe, whose keys are beside those of Llama, have two matrices
/// with GELU between them (SparseMLP: w1, w2), whatever hidden_act says.
void remove_expert_gates(model::Model& model) {
  for (auto& run : model.runs)
    if (run.layer.ffn.sparse()) run.layer.ffn.matrices = 2;
}

/// nanotron's model_config has Hugging Face's keys and states its family by a flag.
void read_model_config(ForeignReading& r) {
  const YamlNode* node = find_path(r.root, "model.model_config");
  if (node == nullptr || !r.fields.expect(*node, YamlNode::Kind::map, "a map of shapes")) return;
  // A fork for images and text has the shapes of the language model below.
  if (const YamlNode* const text = node->find("text_config");
      text != nullptr && text->kind == YamlNode::Kind::map) {
    node = text;
    report_left_out(r, *node, "model.model_config: only the language model is estimated");
  }
  if (node->find("hidden_size") == nullptr)  // Mamba, and encoders
    return report_left_out(r, *node, "model.model_config: its layers are not read: pass --model");
  const YamlNode* const qwen = node->find("is_qwen2_config");
  const bool is_qwen = qwen != nullptr && qwen->scalar == "true";
  constexpr std::string_view kFamilies[] = {"is_llama_config", "is_qwen2_config"};
  for (const YamlEntry& entry : node->entries) {
    const std::string& key = entry.key.scalar;
    if (key.starts_with("is_") && key.ends_with("_config") && !is_off(entry.value) &&
        std::find(std::begin(kFamilies), std::end(kFamilies), key) == std::end(kFamilies))
      report_left_out(r, entry.value, fmt::format("{}: estimated as Llama", make_excerpt(key)));
  }
  const std::string text = config_json(*node, is_qwen ? "qwen2" : "llama");
  Result<model::Model> model = read_hf_config(text, "this model");
  if (!model) model.error().where = {};  // a location in `text`, not in the file
  if (model && node->find("moe_num_experts") != nullptr && node->find("moe_config") == nullptr)
    remove_expert_gates(*model);
  r.fields.under("model", *node, [&] { r.draft.model = r.fields.take(*node, std::move(model)); });
}

}  // namespace

bool claims_nanotron(std::string_view file, std::string_view text) {
  return (file.ends_with(".yaml") || file.ends_with(".yml") || file == "-") &&
         text.find("\ntokens:") != std::string_view::npos &&
         text.find("micro_batch_size:") != std::string_view::npos;
}

void read_nanotron(PlanFile& plan, const FileReader& files) {
  const Result<YamlNode> root = read_python_yaml(plan.text, plan.name, plan.findings);
  if (!root) return plan.findings.push_back(root.error());
  FieldReader fields(plan.name, plan.findings);
  ForeignReading reading{fields, plan.draft, *root, files};
  reading.known = &KnownKeys::find("nanotron");
  read_foreign(reading, kNanotronKeys, plan);
  read_model_config(reading);
  plan.draft.order = mesh::kDefaultOrder;  // its grid (ep, pp, dp, cp, tp), row-major
  plan.keys = fields.keys();
}

std::string spell_nanotron(const Edit& edit) {
  const ForeignKey* const row = find_row_for(kNanotronKeys, edit.key);
  return row == nullptr ? "" : fmt::format("{}: {}", row->path, edit.value);
}

}  // namespace rankwright::importer
