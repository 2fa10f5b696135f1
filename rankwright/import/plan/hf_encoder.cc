#include "rankwright/import/plan/hf_encoder.h"

#include <algorithm>
#include <set>

#include "rankwright/model/architecture.h"

namespace rankwright::importer {
namespace {

using Json = nlohmann::json;

// Limits of single shapes, so that no sum of products exceeds 64 bits.
constexpr i64 kMaxWidth = 1 << 17;
constexpr i64 kMaxPatch = 1 << 12;
constexpr i64 kMaxFactor = 64;
constexpr i64 kMaxMerge = 16;  // patches that a token joins, along each side

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
  /// Returns how many different numbers of a list are below `end`, or `usual` if there is none.
  i64 count_below(const char* key, i64 end, i64 usual) const {
    const auto found = object_.find(key);
    if (found == object_.end() || !found->is_array()) return std::min(usual, end);
    std::set<i64> different;
    for (const Json& each : *found)
      if (each.is_number_integer() && each >= 0 && each < end) different.insert(each.get<i64>());
    return i64(different.size());
  }
  const std::string& fault() const { return fault_; }

 private:
  const Json& object_;
  std::string fault_{};
};

/// The numbers that all encoders have.
struct Tower {
  i64 hidden, ffn, layers, heads;
  i64 patch;      // weights of the patch embedding
  i64 positions;  // patches of an image, which have learned positions
};

/// The values of a tower whose config does not state them.
struct TowerDefaults {
  i64 hidden, ffn, layers, heads, image, patch;
};

Tower read_tower(ShapeReader& v, const TowerDefaults& usual) {
  Tower t{v.read("hidden_size", usual.hidden),
          v.read("intermediate_size", usual.ffn),
          v.read("num_hidden_layers", usual.layers, model::kMaxLayers),
          v.read("num_attention_heads", usual.heads),
          0,
          0};
  const i64 side = v.read("patch_size", usual.patch, kMaxPatch);
  const i64 grid = v.read("image_size", usual.image) / side;
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
  model::Encoder shape{};  // of towers: image_tokens are patches, until they are joined
};

/// Returns the shape of a tower with `patches` per image; 0 if images have any size.
model::Encoder make_shape(const Tower& t, i64 matrices, i64 patches) {
  return {.hidden = t.hidden,
          .ffn = t.ffn,
          .heads = t.heads,
          .matrices = matrices,
          .merge = 1,
          .image_tokens = patches,
          .stem = t.patch};
}

/// Adds a projector of `weights` to a tower's shape, which joins `merge` patches into a token.
model::Encoder project(model::Encoder shape, i64 merge, i64 weights) {
  shape.merge = merge;
  shape.projector = weights;
  shape.image_tokens /= merge;
  return shape;
}

Count count_clip(ShapeReader& v) {
  const Tower t = read_tower(v, {768, 3072, 12, 12, 224, 32});
  const i64 h = t.hidden;
  return {t.layers * count_biased_layer(h, t.ffn) + t.patch + (t.positions + 2) * h + 4 * h,
          t.layers, make_shape(t, 2, t.positions)};
}

Count count_siglip(ShapeReader& v) {
  const Tower t = read_tower(v, {768, 3072, 12, 12, 224, 16});
  const i64 h = t.hidden;
  const i64 pooling =
      v.flag("vision_use_head", true) ? 4 * h * h + 2 * h * t.ffn + 8 * h + t.ffn : 0;
  return {t.layers * count_biased_layer(h, t.ffn) + t.patch + h + t.positions * h + 2 * h + pooling,
          t.layers, make_shape(t, 2, t.positions)};
}

Count count_pixtral(ShapeReader& v) {
  const Tower t = read_tower(v, {1024, 4096, 24, 16, 1024, 16});
  const i64 h = t.hidden;
  return {t.layers * (4 * h * h + 3 * h * t.ffn + 2 * h) + t.patch + h, t.layers,
          make_shape(t, 3, 0)};
}

Count count_internvl(ShapeReader& v) {
  const Tower t = read_tower(v, {1024, 4096, 24, 16, 448, 14});
  const i64 h = t.hidden;
  const i64 layer = 4 * h * h + 2 * h * t.ffn + 8 * h + t.ffn +
                    (v.flag("attention_bias", false) ? 3 * h : 0) +
                    (v.flag("use_qk_norm", false) ? 2 * h : 0);
  Count all{t.layers * layer + t.patch + h + (t.positions + 2) * h +
                (v.flag("use_mean_pooling", true) ? 0 : 2 * h),
            t.layers, make_shape(t, 2, t.positions)};
  all.shape.scales = true;
  return all;
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
          tower.layers, project(tower.shape, 1, count_projector(width, text, text, false))};
}

Count count_gemma3(const Json& config, const Json& vision, ShapeReader& v, i64 text) {
  const Count tower = count_named_tower(vision, v, "siglip_vision_model");
  if (tower.parameters == 0) return tower;
  const i64 h = v.read("hidden_size", 768);
  const i64 tokens = ShapeReader(config).read("mm_tokens_per_image", 256);
  const i64 merge = std::max<i64>(1, tower.shape.image_tokens / tokens);
  return {tower.parameters + h * text + h, tower.layers, project(tower.shape, merge, h * text)};
}

Count count_internvl_model(const Json& config, const Json& vision, ShapeReader& v, i64 text) {
  const Count tower = count_named_tower(vision, v, "internvl_vision");
  if (tower.parameters == 0) return tower;
  const auto ratio = config.find("downsample_ratio");
  const bool half = ratio == config.end() || (ratio->is_number() && *ratio == 0.5);
  if (!half) return {0, tower.layers};
  const i64 joined = 4 * v.read("hidden_size", 1024);
  return {tower.parameters + 2 * joined + count_projector(joined, text, text), tower.layers,
          project(tower.shape, 4, count_projector(joined, text, text, false))};
}

Count count_mistral3(const Json& config, const Json& vision, ShapeReader& v, i64 text) {
  const Count tower = count_named_tower(vision, v, "pixtral");
  if (tower.parameters == 0) return tower;
  ShapeReader top(config);
  const i64 h = v.read("hidden_size", 1024);
  const i64 merge = top.read("spatial_merge_size", 2, kMaxMerge);
  const i64 width = h * top.length("vision_feature_layer", 1);
  return {tower.parameters + h + h * h * merge * merge +
              count_projector(width, text, text, top.flag("multimodal_projector_bias", false)),
          tower.layers,
          project(tower.shape, merge * merge,
                  h * h * merge * merge + count_projector(width, text, text, false))};
}

Count count_llama4(const Json&, const Json&, ShapeReader& v, i64 text) {
  const Tower t = read_tower(v, {768, 5632, 34, 16, 448, 14});
  const i64 h = t.hidden;
  const i64 in = v.read("projector_input_dim", 4096), out = v.read("projector_output_dim", 4096);
  const i64 projector = t.ffn * in + out * out + v.read("vision_output_dim", 7680) * text;
  return {
      t.layers * count_biased_layer(h, t.ffn) + t.patch + (t.positions + 2) * h + 4 * h + projector,
      t.layers, project(make_shape(t, 2, t.positions), 4, projector)};
}

/// The numbers of Qwen's encoders.
struct QwenTower {
  i64 hidden, layers, heads, patch, merge, merged;

  /// Returns the shape with `projectors` of two matrices to `out`.
  model::Encoder shape(i64 ffn, i64 matrices, i64 projectors, i64 out) const {
    return {.hidden = hidden,
            .ffn = ffn,
            .heads = heads,
            .matrices = matrices,
            .merge = merge * merge,
            .projector = projectors * count_projector(merged, merged, out, false),
            .stem = patch};
  }
};

QwenTower read_qwen(ShapeReader& v, const char* width, i64 hidden, i64 layers, i64 patch) {
  QwenTower t{v.read(width, hidden),
              v.read("depth", layers, model::kMaxLayers),
              v.read("num_heads", 16),
              0,
              v.read("spatial_merge_size", 2, kMaxMerge),
              0};
  const i64 side = v.read("patch_size", patch, kMaxPatch);
  const i64 channels = v.read("in_chans", v.read("in_channels", 3, kMaxFactor), kMaxFactor);
  t.patch = t.hidden * channels * v.read("temporal_patch_size", 2, kMaxFactor) * side * side;
  t.merged = t.hidden * t.merge * t.merge;
  return t;
}

Count count_qwen2_vl(const Json&, const Json&, ShapeReader& v, i64) {
  const QwenTower t = read_qwen(v, "embed_dim", 1280, 32, 14);
  const i64 h = t.hidden, f = h * v.read("mlp_ratio", 4, kMaxFactor);
  const i64 out = v.read("hidden_size", 3584);
  return {t.layers * count_biased_layer(h, f) + t.patch + 2 * h +
              count_projector(t.merged, t.merged, out),
          t.layers, t.shape(f, 2, 1, out)};
}

Count count_qwen2_5_vl(const Json&, const Json&, ShapeReader& v, i64) {
  const QwenTower t = read_qwen(v, "hidden_size", 3584, 32, 14);
  const i64 h = t.hidden, f = v.read("intermediate_size", 3420);
  const i64 out = v.read("out_hidden_size", 3584);
  Count all{t.layers * (4 * h * h + 3 * h * f + 7 * h + 2 * f) + t.patch + h +
                count_projector(t.merged, t.merged, out),
            t.layers, t.shape(f, 3, 1, out)};
  // window_size is in pixels; a window has whole tokens, whose patches attend to each other.
  const i64 side = v.read("window_size", 112) / t.merge / v.read("patch_size", 14, kMaxPatch);
  all.shape.window = side * side * t.merge * t.merge;
  if (side > 0) all.shape.global_layers = v.count_below("fullatt_block_indexes", t.layers, 4);
  return all;
}

Count count_qwen3_vl(const Json&, const Json&, ShapeReader& v, i64) {
  const QwenTower t = read_qwen(v, "hidden_size", 1152, 27, 16);
  const i64 h = t.hidden, f = v.read("intermediate_size", 4304);
  const i64 out = v.read("out_hidden_size", 3584);
  const i64 projector = count_projector(t.merged, t.merged, out);
  const i64 deep = v.length("deepstack_visual_indexes", 3);
  return {t.layers * count_biased_layer(h, f) + t.patch + h +
              v.read("num_position_embeddings", 2304) * h + 2 * h + projector +
              deep * (2 * t.merged + projector),
          t.layers, t.shape(f, 2, 1 + deep, out)};
}

/// Returns the encoder of Whisper, on `joined` positions per token: two convolutions over three
/// frames each, of which the second joins two frames into a position, and layers whose keys have no
/// bias. Its learned positions are those of a clip of 30 s, to which shorter ones are padded.
Count count_whisper(ShapeReader& v, i64 joined) {
  const i64 h = v.read("d_model", v.read("hidden_size", 1280));
  const i64 f = v.read("encoder_ffn_dim", v.read("intermediate_size", 5120));
  const i64 layers = v.read("encoder_layers", v.read("num_hidden_layers", 32, model::kMaxLayers),
                            model::kMaxLayers);
  const i64 heads = v.read("encoder_attention_heads", v.read("num_attention_heads", 20));
  const i64 mels = v.read("num_mel_bins", 128, kMaxPatch);
  const i64 positions = v.read("max_source_positions", 1500);
  constexpr i64 kTaps = 3, kStride = 2;  // of a convolution; frames per position
  const i64 first = kTaps * mels * h, second = kTaps * h * h;
  Count all{layers * (count_biased_layer(h, f) - h) + first + second + (positions + 4) * h, layers};
  all.shape = {.hidden = h,
               .ffn = f,
               .heads = heads,
               .matrices = 2,
               .merge = joined,
               .image_tokens = positions / joined,
               .stem = kStride * first + second,
               .audio = true};
  return all;
}

/// Adds a projector with these weights and biases to an audio encoder.
Count add_projector(Count all, i64 weights, i64 biases) {
  all.parameters += weights + biases;
  all.shape.projector = weights;
  return all;
}

Count count_qwen2_audio(const Json&, const Json&, ShapeReader& v, i64 text) {
  const Count tower = count_whisper(v, 2);
  return add_projector(tower, tower.shape.hidden * text, text);
}

Count count_audioflamingo3(const Json& config, const Json&, ShapeReader& v, i64 text) {
  const Count tower = count_whisper(v, 2);
  const bool bias = ShapeReader(config).flag("projector_bias", true);
  return add_projector(tower, count_projector(tower.shape.hidden, text, text, false),
                       bias ? 2 * text : 0);
}

/// The projector reads as many positions at once as are as wide as the feed-forward.
Count count_voxtral(const Json&, const Json&, ShapeReader& v, i64 text) {
  const i64 width = v.read("hidden_size", 1280), joined = v.read("intermediate_size", 5120);
  if (joined % width != 0) return {0, v.read("num_hidden_layers", 32, model::kMaxLayers)};
  return add_projector(count_whisper(v, joined / width), count_projector(joined, text, text, false),
                       0);
}

/// Which part of a config decides whether embedding and head share their weight, as transformers
/// 5.22 does: its top, which is true or false by default, the text part, either of them if it is
/// true, or neither: they never do.
enum class Tied : unsigned char { top_or_true, top_or_false, text, either, never };

/// A model_type with an encoder. To add one, add a row and a config to tests/data/hf_types.
struct EncoderRow {
  std::string_view type;
  Count (*count)(const Json& config, const Json& vision, ShapeReader& v, i64 text);
  Tied tied;
  std::string_view text = "";  // the text part of configs that state it beside vision_config
  const char* part = "vision_config";
};
constexpr EncoderRow kEncoders[] = {
    {"audioflamingo3", count_audioflamingo3, Tied::never, "", "audio_config"},
    {"gemma3", count_gemma3, Tied::top_or_true},
    {"internvl", count_internvl_model, Tied::top_or_true},
    {"llama4", count_llama4, Tied::text},
    {"llava", count_llava, Tied::either},
    {"mistral3", count_mistral3, Tied::top_or_true},
    {"qwen2_5_vl", count_qwen2_5_vl, Tied::either, "qwen2"},
    {"qwen2_audio", count_qwen2_audio, Tied::never, "", "audio_config"},
    {"qwen2_vl", count_qwen2_vl, Tied::either, "qwen2"},
    {"qwen3_vl", count_qwen3_vl, Tied::top_or_false},
    {"voxtral", count_voxtral, Tied::never, "", "audio_config"},
};

/// The text parts of multimodal models that are equal to another model_type.
struct TextRow {
  std::string_view type, text;
};
constexpr TextRow kTextTypes[] = {
    {"qwen2_vl_text", "qwen2"}, {"qwen2_5_vl_text", "qwen2"}, {"qwen3_vl_text", "qwen3"}};

}  // namespace

HfEncoder read_hf_encoder(const Json& config, i64 hidden) {
  const auto find_part = [&](const char* key) -> const Json* {
    const auto found = config.find(key);
    return found != config.end() && found->is_object() ? &*found : nullptr;
  };
  if (find_part("vision_config") == nullptr && find_part("audio_config") == nullptr) return {};
  const auto type = config.find("model_type");
  if (hidden > kMaxWidth || type == config.end() || !type->is_string()) return {.layers = 1};
  for (const EncoderRow& row : kEncoders) {
    const Json* const part = find_part(row.part);
    if (row.type != type->get<std::string>() || part == nullptr) continue;
    ShapeReader reader(*part);
    const Count counted = row.count(config, *part, reader, hidden);
    const model::Encoder& shape = counted.shape;
    const bool usable =
        divides(shape.heads, shape.hidden) && shape.image_tokens <= model::kMaxImageTokens;
    return {.parameters = counted.parameters,
            .layers = counted.layers,
            .shape = usable ? shape : model::Encoder{},
            .part = row.part,
            .fault = reader.fault()};
  }
  return {.layers = 1};
}

std::optional<bool> find_tied_at_top(const Json& config) {
  const auto type = config.find("model_type");
  if (type == config.end() || !type->is_string()) return std::nullopt;
  const ShapeReader top(config);
  const auto read = [&](bool usual) { return top.flag("tie_word_embeddings", usual); };
  for (const EncoderRow& row : kEncoders) {
    if (row.type != type->get<std::string>()) continue;
    switch (row.tied) {
      case Tied::top_or_true:
        return read(true);
      case Tied::top_or_false:
        return read(false);
      case Tied::either:
        return read(false) ? std::optional(true) : std::nullopt;
      case Tied::never:
        return false;
      case Tied::text:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

std::string_view find_text_type(std::string_view type) {
  for (const EncoderRow& row : kEncoders)
    if (row.type == type && !row.text.empty()) return row.text;
  for (const TextRow& row : kTextTypes)
    if (row.type == type) return row.text;
  return type;
}

}  // namespace rankwright::importer
