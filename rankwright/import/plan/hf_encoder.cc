#include "rankwright/import/plan/hf_encoder.h"

#include <algorithm>

#include "rankwright/model/architecture.h"

namespace rankwright::importer {
namespace {

using Json = nlohmann::json;

// Limits of single shapes, so that no sum of products exceeds 64 bits.
constexpr i64 kMaxWidth = 1 << 17;
constexpr i64 kMaxPatch = 1 << 12;
constexpr i64 kMaxFactor = 64;

/// Reads shapes of an object. Remembers the first key whose value is not a whole number in range.
class ShapeReader {
 public:
  explicit ShapeReader(const Json& object) : object_(object) {}

  i64 read(const char* key, i64 usual, i64 max = kMaxWidth) {
    const auto found = object_.find(key);
    if (found == object_.end() || found->is_null()) return usual;
    const Json& value = found->is_array() && !found->empty() ? found->front() : *found;
    if (value.is_number_integer() && value >= 1 && value <= max) return value.get<i64>();
    if (fault_.empty()) fault_ = key;
    return usual;
  }
  bool flag(const char* key, bool usual) const {
    const auto found = object_.find(key);
    return found != object_.end() && found->is_boolean() ? found->get<bool>() : usual;
  }
  /// Returns the elements of a list, or `usual` if there is none.
  i64 length(const char* key, i64 usual) const {
    const auto found = object_.find(key);
    return found != object_.end() && found->is_array() ? std::min(i64(found->size()), kMaxFactor)
                                                       : usual;
  }
  const std::string& fault() const { return fault_; }

 private:
  const Json& object_;
  std::string fault_{};
};

/// The numbers that all encoders have.
struct Tower {
  i64 hidden, ffn, layers;
  i64 patch;      // weights of the patch embedding
  i64 positions;  // patches of an image, which have learned positions
};

Tower read_tower(ShapeReader& v, i64 hidden, i64 ffn, i64 layers, i64 image, i64 patch) {
  Tower t{v.read("hidden_size", hidden), v.read("intermediate_size", ffn),
          v.read("num_hidden_layers", layers, model::kMaxLayers), 0, 0};
  const i64 side = v.read("patch_size", patch, kMaxPatch);
  const i64 grid = v.read("image_size", image) / side;
  t.patch = t.hidden * v.read("num_channels", 3, kMaxFactor) * side * side;
  t.positions = grid * grid;
  return t;
}

/// Counts a layer with biases everywhere, two LayerNorms and a feed-forward of two matrices.
i64 count_biased_layer(i64 h, i64 f) { return 4 * h * h + 2 * h * f + 9 * h + f; }

/// Counts two matrices with biases: from `in` to `inner` to `out`.
i64 count_projector(i64 in, i64 inner, i64 out, bool bias = true) {
  return in * inner + inner * out + (bias ? inner + out : 0);
}

struct Count {
  i64 parameters, layers;
};

Count count_clip(ShapeReader& v) {
  const Tower t = read_tower(v, 768, 3072, 12, 224, 32);
  const i64 h = t.hidden;
  return {t.layers * count_biased_layer(h, t.ffn) + t.patch + (t.positions + 2) * h + 4 * h,
          t.layers};
}

Count count_siglip(ShapeReader& v) {
  const Tower t = read_tower(v, 768, 3072, 12, 224, 16);
  const i64 h = t.hidden;
  const i64 pooling =
      v.flag("vision_use_head", true) ? 4 * h * h + 2 * h * t.ffn + 8 * h + t.ffn : 0;
  return {t.layers * count_biased_layer(h, t.ffn) + t.patch + h + t.positions * h + 2 * h + pooling,
          t.layers};
}

Count count_pixtral(ShapeReader& v) {
  const Tower t = read_tower(v, 1024, 4096, 24, 1024, 16);
  const i64 h = t.hidden;
  return {t.layers * (4 * h * h + 3 * h * t.ffn + 2 * h) + t.patch + h, t.layers};
}

Count count_internvl(ShapeReader& v) {
  const Tower t = read_tower(v, 1024, 4096, 24, 448, 14);
  const i64 h = t.hidden;
  const i64 layer = 4 * h * h + 2 * h * t.ffn + 8 * h + t.ffn +
                    (v.flag("attention_bias", false) ? 3 * h : 0) +
                    (v.flag("use_qk_norm", false) ? 2 * h : 0);
  return {t.layers * layer + t.patch + h + (t.positions + 2) * h +
              (v.flag("use_mean_pooling", true) ? 0 : 2 * h),
          t.layers};
}

/// Counts the encoder that vision_config names; llava's may be any of these.
Count count_named_tower(const Json& vision, ShapeReader& v, std::string_view usual) {
  const auto type = vision.find("model_type");
  const std::string name =
      type != vision.end() && type->is_string() ? type->get<std::string>() : std::string(usual);
  if (name == "clip_vision_model") return count_clip(v);
  if (name == "siglip_vision_model") return count_siglip(v);
  if (name == "pixtral") return count_pixtral(v);
  if (name == "internvl_vision") return count_internvl(v);
  return {0, v.read("num_hidden_layers", 1, model::kMaxLayers)};
}

Count count_llava(const Json& config, const Json& vision, ShapeReader& v, i64 text) {
  const Count tower = count_named_tower(vision, v, "clip_vision_model");
  if (tower.parameters == 0) return tower;
  const ShapeReader top(config);
  const i64 width = v.read("hidden_size", 768) * top.length("vision_feature_layer", 1);
  return {tower.parameters +
              count_projector(width, text, text, top.flag("multimodal_projector_bias", true)),
          tower.layers};
}

Count count_gemma3(const Json&, const Json& vision, ShapeReader& v, i64 text) {
  const Count tower = count_named_tower(vision, v, "siglip_vision_model");
  const i64 h = v.read("hidden_size", 768);
  return {tower.parameters > 0 ? tower.parameters + h * text + h : 0, tower.layers};
}

Count count_internvl_model(const Json& config, const Json& vision, ShapeReader& v, i64 text) {
  const Count tower = count_named_tower(vision, v, "internvl_vision");
  if (tower.parameters == 0) return tower;
  const auto ratio = config.find("downsample_ratio");
  const bool half = ratio == config.end() || (ratio->is_number() && *ratio == 0.5);
  if (!half) return {0, tower.layers};
  const i64 joined = 4 * v.read("hidden_size", 1024);
  return {tower.parameters + 2 * joined + count_projector(joined, text, text), tower.layers};
}

Count count_mistral3(const Json& config, const Json& vision, ShapeReader& v, i64 text) {
  const Count tower = count_named_tower(vision, v, "pixtral");
  if (tower.parameters == 0) return tower;
  ShapeReader top(config);
  const i64 h = v.read("hidden_size", 1024);
  const i64 merge = top.read("spatial_merge_size", 2, kMaxFactor);
  const i64 width = h * top.length("vision_feature_layer", 1);
  return {tower.parameters + h + h * h * merge * merge +
              count_projector(width, text, text, top.flag("multimodal_projector_bias", false)),
          tower.layers};
}

Count count_llama4(const Json&, const Json&, ShapeReader& v, i64 text) {
  const Tower t = read_tower(v, 768, 5632, 34, 448, 14);
  const i64 h = t.hidden;
  const i64 in = v.read("projector_input_dim", 4096), out = v.read("projector_output_dim", 4096);
  return {t.layers * count_biased_layer(h, t.ffn) + t.patch + (t.positions + 2) * h + 4 * h +
              t.ffn * in + out * out + v.read("vision_output_dim", 7680) * text,
          t.layers};
}

/// The numbers of Qwen's encoders.
struct QwenTower {
  i64 hidden, layers, patch, merged;
};

QwenTower read_qwen(ShapeReader& v, const char* width, i64 hidden, i64 layers, i64 patch) {
  QwenTower t{v.read(width, hidden), v.read("depth", layers, model::kMaxLayers), 0, 0};
  const i64 side = v.read("patch_size", patch, kMaxPatch);
  const i64 channels = v.read("in_chans", v.read("in_channels", 3, kMaxFactor), kMaxFactor);
  const i64 merge = v.read("spatial_merge_size", 2, kMaxFactor);
  t.patch = t.hidden * channels * v.read("temporal_patch_size", 2, kMaxFactor) * side * side;
  t.merged = t.hidden * merge * merge;
  return t;
}

Count count_qwen2_vl(const Json&, const Json&, ShapeReader& v, i64) {
  const QwenTower t = read_qwen(v, "embed_dim", 1280, 32, 14);
  const i64 h = t.hidden, f = h * v.read("mlp_ratio", 4, kMaxFactor);
  return {t.layers * count_biased_layer(h, f) + t.patch + 2 * h +
              count_projector(t.merged, t.merged, v.read("hidden_size", 3584)),
          t.layers};
}

Count count_qwen2_5_vl(const Json&, const Json&, ShapeReader& v, i64) {
  const QwenTower t = read_qwen(v, "hidden_size", 3584, 32, 14);
  const i64 h = t.hidden, f = v.read("intermediate_size", 3420);
  return {t.layers * (4 * h * h + 3 * h * f + 7 * h + 2 * f) + t.patch + h +
              count_projector(t.merged, t.merged, v.read("out_hidden_size", 3584)),
          t.layers};
}

Count count_qwen3_vl(const Json&, const Json&, ShapeReader& v, i64) {
  const QwenTower t = read_qwen(v, "hidden_size", 1152, 27, 16);
  const i64 h = t.hidden, f = v.read("intermediate_size", 4304);
  const i64 projector = count_projector(t.merged, t.merged, v.read("out_hidden_size", 3584));
  const i64 deep = v.length("deepstack_visual_indexes", 3);
  return {t.layers * count_biased_layer(h, f) + t.patch + h +
              v.read("num_position_embeddings", 2304) * h + 2 * h + projector +
              deep * (2 * t.merged + projector),
          t.layers};
}

/// A model_type with an encoder. To add one, add a row and a config to tests/data/hf_types.
struct EncoderRow {
  std::string_view type;
  Count (*count)(const Json& config, const Json& vision, ShapeReader& v, i64 text);
  std::string_view text = "";  // the text part of configs that state it beside vision_config
};
constexpr EncoderRow kEncoders[] = {
    {"gemma3", count_gemma3},
    {"internvl", count_internvl_model},
    {"llama4", count_llama4},
    {"llava", count_llava},
    {"mistral3", count_mistral3},
    {"qwen2_5_vl", count_qwen2_5_vl, "qwen2"},
    {"qwen2_vl", count_qwen2_vl, "qwen2"},
    {"qwen3_vl", count_qwen3_vl},
};

/// The text parts of multimodal models that are equal to another model_type.
struct TextRow {
  std::string_view type, text;
};
constexpr TextRow kTextTypes[] = {
    {"qwen2_vl_text", "qwen2"}, {"qwen2_5_vl_text", "qwen2"}, {"qwen3_vl_text", "qwen3"}};

}  // namespace

HfEncoder read_hf_encoder(const Json& config, i64 hidden) {
  const auto vision = config.find("vision_config");
  if (vision == config.end() || !vision->is_object()) {
    const auto audio = config.find("audio_config");
    return {.layers = audio != config.end() && audio->is_object() ? 1 : 0};
  }
  const auto type = config.find("model_type");
  if (hidden > kMaxWidth || type == config.end() || !type->is_string()) return {.layers = 1};
  ShapeReader reader(*vision);
  for (const EncoderRow& row : kEncoders)
    if (row.type == type->get<std::string>()) {
      const Count counted = row.count(config, *vision, reader, hidden);
      return {counted.parameters, counted.layers, reader.fault()};
    }
  return {.layers = 1};
}

std::string_view find_text_type(std::string_view type) {
  for (const EncoderRow& row : kEncoders)
    if (row.type == type && !row.text.empty()) return row.text;
  for (const TextRow& row : kTextTypes)
    if (row.type == type) return row.text;
  return type;
}

std::string list_hf_encoders() {
  std::string list;
  for (const EncoderRow& row : kEncoders)
    list += (list.empty() ? "" : ", ") + std::string(row.type);
  return list;
}

}  // namespace rankwright::importer
