// Reads configs of transformers that a recipe states instead of naming a model: all keys of one, or
// those that differ from a named model's.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "rankwright/base/format.h"
#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/plan/hf_config.h"
#include "rankwright/import/plan/hf_families.h"
#include "rankwright/model/shapes.h"

namespace rankwright::importer {
namespace {

/// A key of a config, and the shape that it states.
struct ConfigOverride {
  std::string_view key;
  i64 model::Shapes::*shape;
};
constexpr ConfigOverride kConfigOverrides[] = {
    {"hidden_size", &model::Shapes::hidden},
    {"num_hidden_layers", &model::Shapes::layers},
    {"num_attention_heads", &model::Shapes::heads},
    {"num_key_value_heads", &model::Shapes::kv_heads},
    {"head_dim", &model::Shapes::head_dim},
    {"intermediate_size", &model::Shapes::ffn},
    {"vocab_size", &model::Shapes::vocab},
    {"sliding_window", &model::Shapes::window},
    {"num_experts", &model::Shapes::experts},
    {"num_local_experts", &model::Shapes::experts},
    {"n_routed_experts", &model::Shapes::experts},
    {"num_experts_per_tok", &model::Shapes::active_experts},
    {"moe_intermediate_size", &model::Shapes::expert_ffn},
    {"first_k_dense_replace", &model::Shapes::first_dense},
};

using Json = nlohmann::json;

/// Returns the value of a scalar as JSON: a number, a flag or a text.
Json to_json_scalar(const std::string& text) {
  Json value = Json::parse(lower(text), nullptr, false);  // without exceptions
  if (value.is_number() || value.is_boolean()) return value;
  return text;
}

Json to_json(const YamlNode& node) {  // its depth is bounded by the reader of YAML
  if (is_null(node)) return nullptr;
  if (node.kind == YamlNode::Kind::scalar) return to_json_scalar(node.scalar);
  Json json = node.kind == YamlNode::Kind::map ? Json::object() : Json::array();
  for (const YamlNode& item : node.items) json.push_back(to_json(item));
  for (const YamlEntry& entry : node.entries) json[entry.key.scalar] = to_json(entry.value);
  return json;
}

/// Returns letters and digits in lower case: "Qwen3Moe" and "qwen3_moe" are the same.
std::string strip_word(std::string_view word) {
  std::string text = lower(word.substr(0, kLongestLabel));
  std::erase(text, '_');
  return text;
}

/// Returns the model type of
/// "transformers.models.qwen3_moe.configuration_qwen3_moe.Qwen3MoeConfig".
std::string find_class_type(std::string_view target) {
  std::string_view name = target.substr(target.rfind('.') + 1);  // npos + 1 is 0
  if (!name.ends_with("Config")) return {};
  name.remove_suffix(std::string_view("Config").size());
  for (const HfFamily& family : list_hf_families())
    if (strip_word(family.model_type) == strip_word(name)) return std::string(family.model_type);
  return {};
}

}  // namespace

void read_config_overrides(ForeignReading& r, const YamlNode& node) {
  const bool changes =
      std::any_of(std::begin(kConfigOverrides), std::end(kConfigOverrides),
                  [&](const ConfigOverride& row) { return find_path(node, row.key) != nullptr; });
  if (!changes) return;
  std::optional<model::Shapes> shapes =
      r.draft.model ? model::derive_shapes(*r.draft.model) : std::nullopt;
  if (!shapes)
    return report_left_out(r, node, "the stated config changes a model that is unknown here");
  // The width of a head is that of the new shapes unless it is stated.
  if (find_path(node, "hidden_size") != nullptr ||
      find_path(node, "num_attention_heads") != nullptr)
    shapes->head_dim = 0;
  for (const ConfigOverride& row : kConfigOverrides)
    if (const YamlNode* const value = find_path(node, row.key))
      (*shapes).*row.shape = r.fields.whole(*value, 0, kMaxCount).value_or((*shapes).*row.shape);
  if (const YamlNode* const tied = find_path(node, "tie_word_embeddings"))
    shapes->tied = !is_off(*tied);
  shapes->name = "this model";
  r.draft.model = r.fields.take(node, build(*shapes));
}

void read_stated_config(ForeignReading& r, const YamlNode& node) {
  Json json = to_json(node);
  const YamlNode* const target = node.find("_target_");
  const std::string type = target == nullptr ? "" : find_class_type(target->scalar);
  if (!type.empty() && !json.contains("model_type")) json["model_type"] = type;
  constexpr int kIndent = -1;
  const std::string text = json.dump(kIndent, ' ', false, Json::error_handler_t::replace);
  Result<model::Model> model = read_hf_config(text, "this model");
  if (!model)
    return report_left_out(
        r, node,
        fmt::format("the model that these keys state ({}): pass --model", model.error().detail));
  r.draft.model = std::move(*model);
}

}  // namespace rankwright::importer
