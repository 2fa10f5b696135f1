#include "rankwright/import/plan/hf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "rankwright/base/format.h"
#include "rankwright/base/suggest.h"
#include "rankwright/import/plan/hf_encoder.h"
#include "rankwright/import/plan/hf_families.h"
#include "rankwright/import/syntax/fields.h"
#include "rankwright/import/syntax/lines.h"

namespace rankwright::importer {
namespace {

using Json = nlohmann::json;

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

Result<i64> read_number(const Json& value, std::string_view key, Need need, const Source& source) {
  if (!value.is_number_integer())
    return fail(bad_value(source, "RW0903", "not a whole number", key,
                          fmt::format("{} is {}", key, quote(value))));
  const i64 min = need == Need::or_none ? 0 : 1;
  const bool huge = value.is_number_unsigned() && value.get<std::uint64_t>() > kMaxCount;
  if (huge || value.get<i64>() < min)
    return fail(bad_value(source, "RW0904", "number out of range", key,
                          fmt::format("{} is {}: it must be from {} to {} (2^50)", key,
                                      quote(value), min, count(kMaxCount))));
  return value.get<i64>();
}

bool is_uniform_list(const Json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [&](const Json& one) { return one == value[0]; });
}

ConfigFault read_numbers(const Json& json, const HfFamily& family, std::span<const HfKey> keys,
                         const Source& source, model::Shapes& shapes) {
  for (const HfKey& key : keys) {
    const bool other = find(json, key.key) == nullptr && !key.also.empty();
    const std::string_view name = other ? key.also : key.key;
    const Json* value = find(json, name);
    if (value != nullptr && key.need == Need::optional && *value == "auto") value = nullptr;
    if (value != nullptr && key.listed && is_uniform_list(*value)) value = &value->front();
    if (value == nullptr) {
      if (key.need != Need::required || shapes.*key.member > 0) continue;
      return not_understood(source, key.key,
                            fmt::format("a {} model needs '{}'", family.model_type, key.key));
    }
    const Result<i64> number = read_number(*value, name, key.need, source);
    if (!number) return number.error();
    shapes.*key.member = *number;
  }
  return {};
}

ConfigFault read_flag(const Json& json, const HfFlag& flag, const Source& source,
                      model::Shapes& shapes) {
  const Json* value = find(json, flag.key);
  if (value == nullptr) return {};
  if (!value->is_boolean())
    return bad_value(source, "RW0903", "not true or false", flag.key,
                     fmt::format("{} is {}", flag.key, quote(*value)));
  shapes.*flag.member = value->get<bool>();
  return {};
}

ConfigFault read_flags(const Json& json, const HfFamily& family, const Source& source,
                       model::Shapes& shapes) {
  const HfFlag tied{"tie_word_embeddings", &model::Shapes::tied};
  if (const ConfigFault fault = read_flag(json, tied, source, shapes)) return fault;
  for (const HfFlag& flag : family.flags)
    if (const ConfigFault fault = read_flag(json, flag, source, shapes)) return fault;
  for (const RequiredSetting& only : family.only) {
    const Json* value = find(json, only.key);
    if (value != nullptr && value->dump() != only.value)
      return not_understood(
          source, only.key,
          fmt::format("{} is {}: only {} is supported", only.key, quote(*value), only.value));
  }
  return {};
}

/// Reads the tokens of a window, if one is on.
ConfigFault read_window(const Json& json, const HfFamily& family, const Source& source,
                        model::Shapes& shapes) {
  const Json* const window = find(json, family.window);
  const Json* const used = find(json, "use_sliding_window");
  if (window == nullptr || (used == nullptr ? family.window_off : *used == false)) return {};
  const Result<i64> tokens = read_number(*window, family.window, Need::or_none, source);
  if (!tokens) return tokens.error();
  shapes.window = *tokens;
  return {};
}

/// A name of a kind of layers in configs, its letter in Shapes::pattern, and the letter if layers
/// are single blocks.
struct LayerName {
  std::string_view name;
  char letter, single;
};
constexpr LayerName kLayerNames[] = {
    {"full_attention", 'F', '*'},
    {"attention", 'F', '*'},
    {"sliding_attention", 'W', ' '},
    {"chunked_attention", 'W', ' '},
    {"linear_attention", 'L', 'M'},
    {"mamba", 'L', 'M'},
    {"mlp", ' ', '-'},
    {"moe", ' ', 'E'},
};

/// Reads a list of the kinds of all layers.
ConfigFault read_layer_list(const Json& list, std::string_view key, bool single,
                            const Source& source, model::Shapes& shapes) {
  if (!list.is_array() || i64(list.size()) != shapes.layers)
    return not_understood(source, key,
                          fmt::format("{} must list {} layers", key, count(shapes.layers)));
  shapes.pattern.clear();
  for (const Json& layer : list) {
    char letter = ' ';
    for (const LayerName& name : kLayerNames)
      if (layer == name.name) letter = single ? name.single : name.letter;
    if (letter == ' ')
      return not_understood(source, key,
                            fmt::format("{} has the unknown kind {}", key, quote(layer)));
    shapes.pattern += letter;
  }
  return {};
}

/// Reads "every n-th layer has full attention": a number n, or a string such as "LLLG".
ConfigFault read_interval(const Json& value, std::string_view key, char other, const Source& source,
                          model::Shapes& shapes) {
  if (value.is_string()) {
    const std::string text = value.get<std::string>();
    if (text.empty() || text.find_first_not_of("LG") != std::string::npos)
      return not_understood(source, key, fmt::format("{} is {}", key, quote(value)));
    for (const char c : text) shapes.pattern += c == 'G' ? 'F' : other;
    return {};
  }
  const Result<i64> every = read_number(value, key, Need::optional, source);
  if (!every) return every.error();
  shapes.pattern.assign(std::size_t(std::min(*every, shapes.layers)), other);
  if (*every <= shapes.layers) shapes.pattern.back() = 'F';
  return {};
}

/// Reads which layers have which kind of attention, if the config differs from the family.
ConfigFault read_layers(const Json& json, const HfFamily& family, const Source& source,
                        model::Shapes& shapes) {
  const model::Architecture& a = *model::find_architecture(family.architecture);
  if (shapes.layers < 1 || shapes.layers > model::kMaxLayers) return {};
  for (const std::string_view key : {"layer_types", "layers_block_type"})
    if (const Json* const list = find(json, key); list != nullptr)
      return read_layer_list(*list, key, a.single_blocks, source, shapes);
  const Json* const letters = find(json, "hybrid_override_pattern");
  if (a.single_blocks && letters != nullptr && letters->is_string()) {
    shapes.pattern = letters->get<std::string>();
    if (i64(shapes.pattern.size()) == shapes.layers) return {};
    return not_understood(source, "hybrid_override_pattern",
                          fmt::format("hybrid_override_pattern has {} letters for {} layers",
                                      shapes.pattern.size(), count(shapes.layers)));
  }
  if (family.rule == WindowRule::max_window_layers && shapes.window > 0) {
    const Json* const first = find(json, "max_window_layers");
    const i64 full = first != nullptr && first->is_number_integer() ? first->get<i64>() : 28;
    shapes.pattern.assign(std::size_t(shapes.layers), 'F');
    for (i64 i = std::max<i64>(full, 0); i < shapes.layers; ++i)
      shapes.pattern[std::size_t(i)] = 'W';
    return {};
  }
  const Json* const interval = family.every.empty() ? nullptr : find(json, family.every);
  const char other = a.pattern.front() == 'L' ? 'L' : 'W';
  if (interval != nullptr) return read_interval(*interval, family.every, other, source, shapes);
  return {};
}

/// Sets the width of the shared experts. Returns false if it is out of range.
bool set_shared_experts(const HfFamily& family, model::Shapes& shapes) {
  if (family.shared == SharedExperts::one) shapes.shared_ffn = shapes.expert_ffn;
  if (family.shared != SharedExperts::number) return true;
  const std::optional<i64> width = product({shapes.shared_ffn, shapes.expert_ffn});
  if (width) shapes.shared_ffn = *width;
  return width.has_value();
}

Diagnostic unknown_type(const Source& source, const std::string& type) {
  std::vector<std::string> known;
  for (const HfFamily& family : list_hf_families()) known.emplace_back(family.model_type);
  Diagnostic unknown = not_understood(source, "model_type",
                                      fmt::format("unknown model_type '{}'", make_excerpt(type)));
  unknown.notes.push_back("known: " + list_hf_model_types());
  const std::optional<std::string> near = nearest(type, known);
  unknown.hint = near ? fmt::format("did you mean {}?", *near)
                      : "give the shapes in the plan file, with the most similar architecture";
  return unknown;
}

Result<const HfFamily*> read_family(const Json& json, const Source& source) {
  const Json* type = find(json, "model_type");
  if (type == nullptr) return fail(not_understood(source, "model_type", "missing 'model_type'"));
  if (!type->is_string())
    return fail(bad_value(source, "RW0903", "not a string", "model_type",
                          fmt::format("model_type is {}", quote(*type))));
  const std::string name = type->get<std::string>();
  const std::string_view text = find_text_type(name);
  for (const HfFamily& family : list_hf_families())
    if (family.model_type == text) return &family;
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
Diagnostic locate_in_file(Diagnostic fault, const HfFamily& family, const Source& source) {
  for (const model::ShapeField& field : model::list_shape_fields())
    for (const std::span<const HfKey> keys : {family.keys, family.more})
      for (const HfKey& key : keys)
        if (field.name == fault.key && key.member == field.member) {
          fault.key = std::string(key.key);
          fault.where = source.of(key.key);
          return fault;
        }
  fault.where = {.file = std::string(source.file)};
  return fault;
}

ConfigFault read_config_shapes(const Json& json, const HfFamily& family, const Source& source,
                               model::Shapes& shapes) {
  shapes.architecture = family.architecture;
  for (const HfDefault& value : family.defaults) shapes.*value.member = value.value;
  for (const std::span<const HfKey> keys : {family.keys, family.more})
    if (const ConfigFault fault = read_numbers(json, family, keys, source, shapes)) return fault;
  if (const ConfigFault fault = read_flags(json, family, source, shapes)) return fault;
  if (const ConfigFault fault = read_window(json, family, source, shapes)) return fault;
  if (const ConfigFault fault = read_layers(json, family, source, shapes)) return fault;
  if (!set_shared_experts(family, shapes))
    return bad_value(source, "RW0904", "number out of range", "n_shared_experts",
                     "the shared experts are too large");
  if (family.finish == nullptr) return {};
  const std::optional<HfFault> fault = family.finish(json, shapes);
  if (!fault) return {};
  return not_understood(source, fault->key, fault->detail);
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

  const Result<const HfFamily*> family = read_family(*json, source);
  if (!family) return fail(family.error());
  model::Shapes shapes;
  shapes.name = read_name(*whole, file_name);
  if (const ConfigFault fault = read_config_shapes(*json, **family, source, shapes))
    return fail(*fault);
  if (const std::optional<bool> tied = find_tied_at_top(*whole)) shapes.tied = tied;
  const HfEncoder encoder = read_hf_encoder(*whole, shapes.hidden);
  if (!encoder.fault.empty()) {
    source.from = json_text.find(fmt::format("\"{}\"", encoder.part));
    return fail(bad_value(
        source, "RW0904", "number out of range", encoder.fault,
        fmt::format("{} of {} is not a supported whole number", encoder.fault, encoder.part)));
  }
  shapes.encoder_parameters = encoder.parameters;
  shapes.encoder_layers = encoder.layers;
  shapes.encoder_hidden = encoder.shape.hidden;
  shapes.encoder_ffn = encoder.shape.ffn;
  shapes.encoder_heads = encoder.shape.heads;
  shapes.encoder_matrices = encoder.shape.matrices;
  shapes.encoder_merge = encoder.shape.merge;
  shapes.encoder_projector = encoder.shape.projector;
  shapes.encoder_image_tokens = encoder.shape.image_tokens;
  shapes.encoder_stem = encoder.shape.stem;
  shapes.encoder_window = encoder.shape.window;
  shapes.encoder_global_layers = encoder.shape.global_layers;
  if (encoder.shape.scales) shapes.encoder_scales = true;
  if (encoder.shape.audio) shapes.encoder_audio = true;
  Result<model::Model> model = build(shapes);
  if (!model) return fail(locate_in_file(model.error(), **family, source));
  return model;
}

}  // namespace rankwright::importer
