#include "rankwright/import/plan/hf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "rankwright/base/format.h"
#include "rankwright/base/suggest.h"
#include "rankwright/import/syntax/fields.h"
#include "rankwright/import/syntax/lines.h"
#include "rankwright/model/architecture.h"

namespace rankwright::importer {
namespace {

using Json = nlohmann::json;

enum class Need : unsigned char {
  required,  // at least 1
  optional,  // absent, null, or at least 1
  or_none,   // absent, null, or at least 0
};

/// A key that holds a number, and the shape that it sets.
struct Key {
  std::string_view key;
  i64 model::Shapes::*member;
  Need need = Need::required;
};

/// A key that holds a flag, and the shape that it overrides.
struct Flag {
  std::string_view key;
  std::optional<bool> model::Shapes::*member;
};

/// A setting that changes the network in a way that Model cannot express: only this value is
/// supported.
struct RequiredSetting {
  std::string_view key;
  std::string_view value;  // as JSON
};

constexpr Key kDense[] = {
    {"hidden_size", &model::Shapes::hidden},
    {"num_hidden_layers", &model::Shapes::layers},
    {"num_attention_heads", &model::Shapes::heads},
    {"num_key_value_heads", &model::Shapes::kv_heads, Need::optional},
    {"head_dim", &model::Shapes::head_dim, Need::optional},
    {"intermediate_size", &model::Shapes::ffn},
    {"vocab_size", &model::Shapes::vocab},
    {"max_position_embeddings", &model::Shapes::max_sequence, Need::optional},
};

constexpr Key kMixtral[] = {
    {"hidden_size", &model::Shapes::hidden},
    {"num_hidden_layers", &model::Shapes::layers},
    {"num_attention_heads", &model::Shapes::heads},
    {"num_key_value_heads", &model::Shapes::kv_heads, Need::optional},
    {"head_dim", &model::Shapes::head_dim, Need::optional},
    {"intermediate_size", &model::Shapes::expert_ffn},
    {"vocab_size", &model::Shapes::vocab},
    {"max_position_embeddings", &model::Shapes::max_sequence, Need::optional},
    {"num_local_experts", &model::Shapes::experts},
    {"num_experts_per_tok", &model::Shapes::active_experts},
};

constexpr Key kQwenMoe[] = {
    {"hidden_size", &model::Shapes::hidden},
    {"num_hidden_layers", &model::Shapes::layers},
    {"num_attention_heads", &model::Shapes::heads},
    {"num_key_value_heads", &model::Shapes::kv_heads, Need::optional},
    {"head_dim", &model::Shapes::head_dim, Need::optional},
    {"intermediate_size", &model::Shapes::ffn, Need::optional},
    {"vocab_size", &model::Shapes::vocab},
    {"max_position_embeddings", &model::Shapes::max_sequence, Need::optional},
    {"num_experts", &model::Shapes::experts},
    {"num_experts_per_tok", &model::Shapes::active_experts},
    {"moe_intermediate_size", &model::Shapes::expert_ffn},
    {"shared_expert_intermediate_size", &model::Shapes::shared_ffn, Need::or_none},
    {"decoder_sparse_step", &model::Shapes::sparse_every, Need::optional},
};

// These files also contain head_dim and num_key_value_heads, which latent attention does not use.
constexpr Key kDeepSeek[] = {
    {"hidden_size", &model::Shapes::hidden},
    {"num_hidden_layers", &model::Shapes::layers},
    {"num_attention_heads", &model::Shapes::heads},
    {"intermediate_size", &model::Shapes::ffn},
    {"vocab_size", &model::Shapes::vocab},
    {"max_position_embeddings", &model::Shapes::max_sequence, Need::optional},
    {"n_routed_experts", &model::Shapes::experts},
    {"num_experts_per_tok", &model::Shapes::active_experts},
    {"moe_intermediate_size", &model::Shapes::expert_ffn},
    {"n_group", &model::Shapes::expert_groups, Need::or_none},
    {"topk_group", &model::Shapes::active_groups, Need::or_none},
    {"n_shared_experts", &model::Shapes::shared_ffn, Need::or_none},  // see widen_shared_experts
    {"first_k_dense_replace", &model::Shapes::first_dense, Need::or_none},
    {"q_lora_rank", &model::Shapes::q_rank, Need::optional},
    {"kv_lora_rank", &model::Shapes::kv_rank},
    {"qk_nope_head_dim", &model::Shapes::nope_dim},
    {"qk_rope_head_dim", &model::Shapes::rope_dim},
    {"v_head_dim", &model::Shapes::value_dim},
    {"num_nextn_predict_layers", &model::Shapes::mtp_layers, Need::or_none},
};

constexpr Key kGpt2[] = {
    {"n_embd", &model::Shapes::hidden},    {"n_layer", &model::Shapes::layers},
    {"n_head", &model::Shapes::heads},     {"n_inner", &model::Shapes::ffn, Need::optional},
    {"vocab_size", &model::Shapes::vocab}, {"n_positions", &model::Shapes::positions},
};

constexpr Flag kTied[] = {{"tie_word_embeddings", &model::Shapes::tied}};
// attention_bias adds a bias to Q, K, V and the output projection.
constexpr Flag kBiased[] = {{"tie_word_embeddings", &model::Shapes::tied},
                            {"attention_bias", &model::Shapes::qkv_bias},
                            {"attention_bias", &model::Shapes::out_bias},
                            {"mlp_bias", &model::Shapes::ffn_bias}};
constexpr Flag kQwenMoeFlags[] = {{"tie_word_embeddings", &model::Shapes::tied},
                                  {"qkv_bias", &model::Shapes::qkv_bias}};

constexpr RequiredSetting kNoDenseList[] = {{"mlp_only_layers", "[]"}};
constexpr RequiredSetting kEveryLayer[] = {{"moe_layer_freq", "1"}};
constexpr RequiredSetting kNoQkNorm[] = {{"qk_layernorm", "false"}};
constexpr RequiredSetting kDecoder[] = {{"add_cross_attention", "false"}};

/// DeepSeek states the number of shared experts; Model has their total width.
bool widen_shared_experts(model::Shapes& shapes) {
  const std::optional<i64> width = product({shapes.shared_ffn, shapes.expert_ffn});
  if (width) shapes.shared_ffn = *width;
  return width.has_value();
}

struct Family {
  std::string_view model_type;  // also the row of model/architecture
  std::span<const Key> keys;
  std::span<const Flag> flags = kTied;
  std::span<const RequiredSetting> only{};
  bool (*finish)(model::Shapes&) = nullptr;  // returns false if a value is out of range
};

// To read another model_type, add a row here and one in model/architecture.cc.
constexpr Family kFamilies[] = {
    {"llama", kDense, kBiased},
    {"mistral", kDense},
    {"mixtral", kMixtral},
    {"qwen2", kDense},
    {"qwen3", kDense, kBiased},
    {"qwen2_moe", kQwenMoe, kQwenMoeFlags, kNoDenseList},
    {"qwen3_moe", kQwenMoe, kBiased, kNoDenseList},
    {"deepseek_v2", kDeepSeek, kBiased, kEveryLayer, widen_shared_experts},
    {"deepseek_v3", kDeepSeek, kBiased, kEveryLayer, widen_shared_experts},
    {"gpt2", kGpt2, kTied, kDecoder},
    {"gpt_neox", kDense, kBiased},
    {"gemma", kDense, kBiased},
    {"gemma2", kDense, kBiased},
    {"phi", kDense, kTied, kNoQkNorm},
    {"phi3", kDense},
};

/// The text being read, for locations in it.
struct Source {
  std::string_view text;
  std::string_view file;
  std::size_t from = 0;  // start of the object being read

  Location at(std::size_t offset, int width = 1) const {
    Location place = to_location(text, offset, file);
    place.width = width;
    return place;
  }

  /// Returns the location of the value of `key`. The parser keeps no locations, so the key is
  /// searched for again.
  Location of(std::string_view key) const {
    const std::string quoted = fmt::format("\"{}\"", key);
    for (std::size_t at_key = text.find(quoted, from); at_key != std::string_view::npos;
         at_key = text.find(quoted, at_key + 1)) {
      const std::size_t colon = text.find_first_not_of(" \t\r\n", at_key + quoted.size());
      if (colon == std::string_view::npos || text[colon] != ':') continue;
      const std::size_t value = text.find_first_not_of(" \t\r\n", colon + 1);
      const std::size_t end = std::min(text.find_first_of(",}\r\n", value), text.size());
      return at(value, std::max(1, int(end - value)));
    }
    return {.file = std::string(file)};
  }
};

Diagnostic unreadable(const Source& source, std::size_t offset, std::string detail) {
  return {.code = "RW0901",
          .message = "the file cannot be read as JSON",
          .detail = std::move(detail),
          .where = source.at(offset)};
}

Diagnostic not_understood(const Source& source, std::string_view key, std::string detail) {
  return {.code = "RW0914",
          .message = "invalid model configuration",
          .detail = std::move(detail),
          .key = std::string(key),
          .where = source.of(key)};
}

Diagnostic bad_value(const Source& source, std::string_view code, std::string_view message,
                     std::string_view key, std::string detail) {
  return {.code = code,
          .message = std::string(message),
          .detail = std::move(detail),
          .key = std::string(key),
          .where = source.of(key)};
}

using ConfigFault = std::optional<Diagnostic>;

ConfigFault check_depth(const Source& source) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < source.text.size(); ++i) {
    const char c = source.text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '{' || c == '[')) {
      if (++depth > kMaxConfigDepth)
        return unreadable(source, i,
                          fmt::format("nested more than {} levels deep", kMaxConfigDepth));
    } else if (!quoted && (c == '}' || c == ']')) {
      --depth;
    }
  }
  return {};
}

Result<Json> parse(const Source& source) {
  if (source.text.size() > kMaxConfigBytes)
    return fail(unreadable(source, 0,
                           fmt::format("{} exceed the limit for a configuration (1 MiB)",
                                       show(bytes(source.text.size(), 1)))));
  if (const ConfigFault fault = check_depth(source)) return fail(*fault);
  try {  // exceptions are the only way the parser reports its position
    Json json = Json::parse(source.text.begin(), source.text.end());
    if (!json.is_object()) return fail(unreadable(source, 0, "it is not a JSON object"));
    return json;
  } catch (const Json::parse_error& error) {
    return fail(unreadable(source, error.byte > 0 ? error.byte - 1 : 0, "invalid JSON here"));
  } catch (const Json::exception&) {
    return fail(unreadable(source, 0, "a number is not finite"));
  }
}

/// Returns a value for quoting in a message, truncated to 40 characters.
std::string quote(const Json& value) {
  const std::string text = value.dump(-1, ' ', true);
  return text.size() > 40 ? text.substr(0, 37) + "..." : text;
}

const Json* find(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

Result<i64> read_number(const Json& value, const Key& key, const Source& source) {
  if (!value.is_number_integer())
    return fail(bad_value(source, "RW0903", "not a whole number", key.key,
                          fmt::format("{} is {}", key.key, quote(value))));
  const i64 min = key.need == Need::or_none ? 0 : 1;
  const bool huge = value.is_number_unsigned() && value.get<std::uint64_t>() > kMaxCount;
  if (huge || value.get<i64>() < min)
    return fail(bad_value(source, "RW0904", "number out of range", key.key,
                          fmt::format("{} is {}: it must be from {} to {} (2^50)", key.key,
                                      quote(value), min, count(kMaxCount))));
  return value.get<i64>();
}

ConfigFault read_numbers(const Json& json, const Family& family, const Source& source,
                         model::Shapes& shapes) {
  for (const Key& key : family.keys) {
    const Json* value = find(json, key.key);
    if (value == nullptr) {
      if (key.need != Need::required) continue;
      return not_understood(source, key.key,
                            fmt::format("a {} model needs '{}'", family.model_type, key.key));
    }
    const Result<i64> number = read_number(*value, key, source);
    if (!number) return number.error();
    shapes.*key.member = *number;
  }
  return {};
}

ConfigFault read_flags(const Json& json, const Family& family, const Source& source,
                       model::Shapes& shapes) {
  for (const Flag& flag : family.flags) {
    const Json* value = find(json, flag.key);
    if (value == nullptr) continue;
    if (!value->is_boolean())
      return bad_value(source, "RW0903", "not true or false", flag.key,
                       fmt::format("{} is {}", flag.key, quote(*value)));
    shapes.*flag.member = value->get<bool>();
  }
  for (const RequiredSetting& only : family.only) {
    const Json* value = find(json, only.key);
    if (value != nullptr && value->dump() != only.value)
      return not_understood(
          source, only.key,
          fmt::format("{} is {}: only {} is supported", only.key, quote(*value), only.value));
  }
  return {};
}

/// Reads the window of sliding-window attention. Qwen's configs state one that is off; newer ones
/// list the kind of every layer.
ConfigFault read_window(const Json& json, const Family& family, const Source& source,
                        model::Shapes& shapes) {
  const Json* const window = find(json, "sliding_window");
  const Json* const used = find(json, "use_sliding_window");
  const Json* const kinds = find(json, "layer_types");
  const bool off_by_default = family.model_type.starts_with("qwen");
  if (window == nullptr || (used == nullptr ? off_by_default : *used == false)) return {};
  if (kinds != nullptr && kinds->is_array() &&
      std::none_of(kinds->begin(), kinds->end(),
                   [](const Json& kind) { return kind == "sliding_attention"; }))
    return {};
  const Key key{"sliding_window", &model::Shapes::window, Need::or_none};
  const Result<i64> tokens = read_number(*window, key, source);
  if (!tokens) return tokens.error();
  shapes.window = *tokens;
  return {};
}

Diagnostic unknown_type(const Source& source, const std::string& type) {
  std::vector<std::string> known;
  std::string listed;
  for (const Family& family : kFamilies) {
    known.emplace_back(family.model_type);
    listed += (listed.empty() ? "" : ", ") + known.back();
  }
  Diagnostic unknown = not_understood(source, "model_type",
                                      fmt::format("unknown model_type '{}'", make_excerpt(type)));
  unknown.notes.push_back("known: " + listed);
  const std::optional<std::string> near = nearest(type, known);
  unknown.hint = near ? fmt::format("did you mean {}?", *near)
                      : "give the shapes in the plan file, with the most similar architecture";
  return unknown;
}

Result<const Family*> read_family(const Json& json, const Source& source) {
  const Json* type = find(json, "model_type");
  if (type == nullptr) return fail(not_understood(source, "model_type", "missing 'model_type'"));
  if (!type->is_string())
    return fail(bad_value(source, "RW0903", "not a string", "model_type",
                          fmt::format("model_type is {}", quote(*type))));
  const std::string name = type->get<std::string>();
  for (const Family& family : kFamilies)
    if (family.model_type == name) return &family;
  return fail(unknown_type(source, name));
}

/// Returns a name of printable ASCII, because it is shown on terminals and written to files. A file
/// name is reduced to the characters of a label, so that a plan file can state it.
std::string read_name(const Json& json, std::string_view file_name) {
  std::string name;
  if (const Json* stated = find(json, "_name_or_path"); stated != nullptr && stated->is_string())
    for (const char c : stated->get<std::string>())
      if (c > ' ' && c <= '~' && name.size() < kLongestLabel) name += c;
  if (!name.empty()) return name;
  // "models/mine/config.json" is named after its folder.
  constexpr std::string_view kUsual = "config.json";
  const auto without = [](std::string_view path, std::size_t tail) {
    return path.substr(0, path.size() - tail);
  };
  if (file_name.ends_with("/" + std::string(kUsual)))
    file_name = without(file_name, kUsual.size() + 1);
  const std::string_view last = file_name.substr(file_name.rfind('/') + 1);  // npos + 1 is 0
  return make_excerpt(last.empty() || last == "." ? kUsual : last, kLongestLabel);
}

/// build() names the faulty shape; replaces it by the key in the file.
Diagnostic locate_in_file(Diagnostic fault, const Family& family, const Source& source) {
  for (const model::ShapeField& field : model::list_shape_fields())
    for (const Key& key : family.keys)
      if (field.name == fault.key && key.member == field.member) {
        fault.key = std::string(key.key);
        fault.where = source.of(key.key);
        return fault;
      }
  fault.where = {.file = std::string(source.file)};
  return fault;
}

}  // namespace

Result<model::Model> read_hf_config(std::string_view json_text, std::string_view file_name) {
  Source source{.text = json_text, .file = file_name};
  const Result<Json> whole = parse(source);
  if (!whole) return fail(whole.error());
  const Json* json = &*whole;
  if (const Json* text = find(*whole, "text_config"); text != nullptr && text->is_object()) {
    json = text;
    source.from = json_text.find("\"text_config\"");
  }

  const Result<const Family*> family = read_family(*json, source);
  if (!family) return fail(family.error());
  model::Shapes shapes;
  shapes.name = read_name(*whole, file_name);
  shapes.architecture = (*family)->model_type;
  if (const ConfigFault fault = read_numbers(*json, **family, source, shapes)) return fail(*fault);
  if (const ConfigFault fault = read_flags(*json, **family, source, shapes)) return fail(*fault);
  if (const ConfigFault fault = read_window(*json, **family, source, shapes)) return fail(*fault);
  if ((*family)->finish != nullptr && !(*family)->finish(shapes))
    return fail(bad_value(source, "RW0904", "number out of range", "n_shared_experts",
                          "the shared experts are too large"));

  Result<model::Model> model = build(shapes);
  if (!model) return fail(locate_in_file(model.error(), **family, source));
  return model;
}

}  // namespace rankwright::importer
