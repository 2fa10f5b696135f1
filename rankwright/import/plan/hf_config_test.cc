#include "rankwright/import/plan/hf_config.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "rankwright/catalog/catalog.h"
#include "rankwright/model/parameters.h"
#include "tests/support/finding_lines.h"
#include "tests/support/golden.h"
#include "tests/support/input_lines.h"

namespace rankwright::importer {
namespace hf_config_test {

const std::filesystem::path kConfigs =
    std::filesystem::path(RANKWRIGHT_SOURCE_DIR) / "tests" / "data" / "hf";

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Diagnostic error_of(std::string_view json) {
  const Result<model::Model> model = read_hf_config(json, "config.json");
  EXPECT_FALSE(model) << json;
  return model ? Diagnostic{} : model.error();
}

/// Returns one case of a golden file: the error of `json` with its hint and notes.
std::string error_case(std::string_view label, std::string_view json) {
  const Diagnostic error = error_of(json);
  std::string text = format_findings(Diagnostics{error});
  for (const std::string& note : error.notes) text += "note: " + note + "\n";
  return format_case(label, text);
}

constexpr std::string_view kLlama = R"({
  "model_type": "llama",
  "hidden_size": 64,
  "num_hidden_layers": 2,
  "num_attention_heads": 4,
  "num_key_value_heads": 2,
  "intermediate_size": 128,
  "vocab_size": 100
})";

/// kLlama with one piece of its text replaced.
std::string edited(std::string_view from, std::string_view to) {
  std::string text(kLlama);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(HfConfig, EveryFileMatchesItsCatalogModel) {
  std::size_t read_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kConfigs)) {
    const std::string name = entry.path().stem().string();
    const Result<model::Model> known = catalog::find_model(name);
    ASSERT_TRUE(known) << name << " is not in the catalog";
    Result<model::Model> read = read_hf_config(contents(entry.path()), name);
    ASSERT_TRUE(read) << name << ": " << read.error().detail;
    EXPECT_EQ(count_parameters(*read), count_parameters(*known)) << name;
    EXPECT_TRUE(*read == *known) << name;
    ++read_files;
  }
  EXPECT_GE(read_files, 18U);
}

/// Reads a multimodal config with this vision_config around kLlama.
Result<model::Model> read_multimodal(const std::string& type, const std::string& vision) {
  return read_hf_config("{\"model_type\": \"" + type + "\", \"vision_config\": " + vision +
                            ", \"text_config\": " + std::string(kLlama) + "}",
                        "config.json");
}

// The encoder that LLaVA 1.5 names: CLIP ViT-L/14 with images of 336 x 336 has 303,507,456
// parameters, without its projection head.
TEST(HfConfig, MultimodalModel_ReadsTheTextPart_AndCountsTheEncoder) {
  const model::Model text = *read_hf_config(kLlama, "config.json");
  const Result<model::Model> model = read_multimodal(
      "llava",
      R"({"model_type": "clip_vision_model", "hidden_size": 1024, "intermediate_size": 4096,
          "num_hidden_layers": 24, "num_attention_heads": 16, "image_size": 336,
          "patch_size": 14})");
  ASSERT_TRUE(model) << model.error().detail;
  const i64 h = text.hidden, projector = 1024 * h + h + h * h + h;
  EXPECT_EQ(model->encoder_parameters, 303'507'456 + projector);
  EXPECT_EQ(model->encoder_layers, 24);
  EXPECT_EQ(model->encoder, (model::Encoder{.hidden = 1024,
                                            .ffn = 4096,
                                            .heads = 16,
                                            .matrices = 2,
                                            .merge = 1,
                                            .projector = 1024 * h + h * h,
                                            .image_tokens = 24 * 24,
                                            .stem = 3 * 14 * 14 * 1024}));
  model::Model rest = *model;
  rest.encoder = {};
  rest.encoder_parameters = rest.encoder_layers = 0;
  EXPECT_EQ(rest, text);
}

// Gemma 3 averages 64 x 64 patches to 256 tokens; InternVL and Llama 4 join 2 x 2, and so do Qwen's
// encoders, which like Pixtral's take images of any size.
TEST(HfConfig, Encoder_JoinsPatchesToTokens) {
  struct Case {
    const char* type;
    const char* vision;
    i64 merge, image_tokens;
  };
  for (const Case& one : {
           Case{"gemma3",
                R"({"model_type": "siglip_vision_model", "image_size": 896, "patch_size": 14})", 16,
                256},
           Case{"internvl", R"({"image_size": [448, 448], "patch_size": [14, 14]})", 4, 256},
           Case{"llama4", R"({"image_size": 336, "patch_size": 14})", 4, 144},
           Case{"mistral3", R"({"image_size": 1540, "patch_size": 14})", 4, 0},
           Case{"qwen2_vl", R"({"patch_size": 14})", 4, 0},
           Case{"qwen2_5_vl", R"({"spatial_merge_size": 2})", 4, 0},
           Case{"qwen3_vl", R"({"spatial_merge_size": 1})", 1, 0},
       }) {
    const Result<model::Model> model = read_multimodal(one.type, one.vision);
    ASSERT_TRUE(model) << one.type << ": " << model.error().detail;
    EXPECT_EQ(model->encoder.merge, one.merge) << one.type;
    EXPECT_EQ(model->encoder.image_tokens, one.image_tokens) << one.type;
  }
}

// Qwen2.5-VL has windows of 112 pixels: 8 x 8 patches of 14.
TEST(HfConfig, Encoder_HasWindowsAndScales) {
  const Result<model::Model> qwen =
      read_multimodal("qwen2_5_vl", R"({"depth": 8, "fullatt_block_indexes": [3, 7, 7, 15]})");
  ASSERT_TRUE(qwen);
  EXPECT_EQ(qwen->encoder.window, 64);
  EXPECT_EQ(qwen->encoder.global_layers, 2);
  EXPECT_FALSE(qwen->encoder.scales);
  EXPECT_TRUE(read_multimodal("internvl", R"({"image_size": 448})")->encoder.scales);
}

// Whisper's encoder in front of Llama 3.1: 1,500 positions of 30 s become 750 or 375 tokens.
TEST(HfConfig, AudioEncoder_IsRead) {
  const auto read = [](const std::string& type, const std::string& audio) {
    return read_hf_config(R"({"model_type": ")" + type + R"(", "audio_config": )" + audio +
                              R"(, "text_config": )" + std::string(kLlama) + "}",
                          "config.json");
  };
  const Result<model::Model> qwen = read("qwen2_audio", R"({"d_model": 1280, "encoder_layers": 2,
      "encoder_attention_heads": 20, "encoder_ffn_dim": 5120, "max_source_positions": 1500})");
  ASSERT_TRUE(qwen) << qwen.error().detail;
  const i64 h = qwen->hidden;
  EXPECT_EQ(qwen->encoder, (model::Encoder{.hidden = 1280,
                                           .ffn = 5120,
                                           .heads = 20,
                                           .matrices = 2,
                                           .merge = 2,
                                           .projector = 1280 * h,
                                           .image_tokens = 750,
                                           .stem = 2 * 3 * 128 * 1280 + 3 * 1280 * 1280,
                                           .audio = true}));
  const Result<model::Model> voxtral = read("voxtral", R"({"hidden_size": 1280})");
  ASSERT_TRUE(voxtral) << voxtral.error().detail;
  EXPECT_EQ(voxtral->encoder.merge, 4);
  EXPECT_EQ(voxtral->encoder.image_tokens, 375);
  EXPECT_EQ(voxtral->encoder.projector, 4 * 1280 * h + h * h);
  const Result<model::Model> wide = read("voxtral", R"({"intermediate_size": 5000})");
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->encoder_parameters, 0);  // positions cannot be joined
  const Result<model::Model> hostile = read("voxtral", R"({"num_mel_bins": -1})");
  ASSERT_FALSE(hostile);
  EXPECT_EQ(hostile.error().key, "num_mel_bins");
}

// The largest shapes are counted without overflow, or refused.
TEST(HfConfig, LargestEncoder_IsRefusedAsTooLarge) {
  std::string deep = "0";
  for (int i = 0; i < 63; ++i) deep += ", 0";
  const Result<model::Model> model = read_multimodal(
      "qwen3_vl", R"({"hidden_size": 131072, "out_hidden_size": 131072, "spatial_merge_size": 16,
                      "deepstack_visual_indexes": [)" +
                      deep + "]}");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, "RW0904");
}

// RW0208 reports an encoder that cannot be counted.
TEST(HfConfig, UnknownEncoder_IsNotCounted) {
  const Result<model::Model> model = read_multimodal("new_vlm", R"({"hidden_size": 1024})");
  ASSERT_TRUE(model) << model.error().detail;
  EXPECT_EQ(model->encoder_parameters, 0);
  EXPECT_EQ(model->encoder_layers, 1);
}

TEST(HfConfig, HostileEncoder_IsRefusedByName) {
  for (const char* const value : {"-1", "1e9", "[]", "\"x\"", "99999999999999999999"}) {
    const Result<model::Model> model =
        read_multimodal("llava", std::string(R"({"hidden_size": )") + value + "}");
    ASSERT_FALSE(model) << value;
    EXPECT_EQ(model.error().code, "RW0904") << value;
    EXPECT_EQ(model.error().key, "hidden_size") << value;
  }
}

TEST(HfConfig, MultimodalModel_ErrorsPointIntoTheTextPart) {
  const Diagnostic error = error_of(R"({
    "vision_config": {"hidden_size": 1024},
    "text_config": {"model_type": "llama", "hidden_size": -1}
  })");
  EXPECT_EQ(error.code, "RW0904");
  EXPECT_EQ(error.where.line, 3);
}

TEST(HfConfig, OptionalPartsMayBeZeroOrNull) {
  std::string text = contents(kConfigs / "deepseek-v3.json");
  for (const std::string_view key : {"n_shared_experts", "num_nextn_predict_layers"}) {
    const std::string one = "\"" + std::string(key) + "\": 1";
    const std::size_t at = text.find(one);
    ASSERT_NE(at, std::string::npos) << key;
    text[at + one.size() - 1] = '0';
  }
  const Result<model::Model> model = read_hf_config(text, "config.json");
  ASSERT_TRUE(model) << model.error().detail;
  EXPECT_EQ(model->mtp_layers, 0);
  EXPECT_EQ(model->layer(60).ffn.shared_width, 0);
}

TEST(HfConfig, NameComesFromTheConfigOrTheFileName) {
  EXPECT_EQ(read_hf_config(kLlama, "config.json")->name, "config.json");
  EXPECT_EQ(read_hf_config(edited("{", R"({"_name_or_path": "me/\u001b[31mtiny",)"), "f")->name,
            "me/[31mtiny");
}

TEST(HfConfig, ReadsFlagsThatOverrideTheFamily) {
  const model::Model model = *read_hf_config(
      edited("{", R"({"attention_bias": true, "mlp_bias": true, "tie_word_embeddings": true,)"),
      "config.json");
  EXPECT_TRUE(model.tied);
  EXPECT_TRUE(model.layer(0).attention.qkv_bias);
  EXPECT_TRUE(model.layer(0).attention.out_bias);
  EXPECT_TRUE(model.layer(0).ffn.bias);
}

TEST(HfConfig, SuggestsTheModelTypeThatWasMeant) {
  const Diagnostic error = error_of(edited("\"llama\"", "\"lama\""));
  EXPECT_EQ(error.code, "RW0914");
  EXPECT_EQ(error.where, (Location{.file = "config.json", .line = 2, .column = 17, .width = 6}));
}

TEST(HfConfig, NamesTheKeyThatIsMissing) {
  const Diagnostic error = error_of(edited("\"hidden_size\"", "\"hiden_size\""));
  EXPECT_EQ(error.code, "RW0914");
  EXPECT_EQ(error.key, "hidden_size");
}

TEST(HfConfig, WrongValue_HasItsLocation) {
  Diagnostic error = error_of(edited("64", "\"64\""));
  EXPECT_EQ(error.code, "RW0903");
  EXPECT_EQ(error.where, (Location{.file = "config.json", .line = 3, .column = 18, .width = 4}));

  error = error_of(edited("64", "-64"));
  EXPECT_EQ(error.code, "RW0904");
  EXPECT_EQ(error_of(edited("64", "0")).code, "RW0904");
  EXPECT_EQ(error_of(edited("64", "18446744073709551615")).code, "RW0904");
  EXPECT_EQ(error_of(edited("64", "64.5")).code, "RW0903");
  EXPECT_EQ(error_of(edited("64", "1e300")).code, "RW0903");
  EXPECT_EQ(error_of(edited("64", "true")).code, "RW0903");
  EXPECT_EQ(error_of(edited("\"llama\"", "[1]")).code, "RW0903");
  EXPECT_EQ(error_of(edited("{", R"({"tie_word_embeddings": "yes",)")).code, "RW0903");
}

TEST(HfConfig, InvalidJson_HasItsLocation) {
  const Diagnostic error = error_of(edited("64,", "64"));
  EXPECT_EQ(error.code, "RW0901");
  EXPECT_EQ(error.where.line, 4);
  EXPECT_EQ(error_of("").code, "RW0901");
  EXPECT_EQ(error_of("[]").code, "RW0901");
  EXPECT_EQ(error_of(edited("64", "NaN")).code, "RW0901");
  EXPECT_EQ(error_of(edited("64", "1e999")).code, "RW0901");
  EXPECT_EQ(error_of("\xff\xfe").code, "RW0901");
}

TEST(HfConfig, BoundsLengthAndDepth) {
  EXPECT_EQ(error_of(std::string(kMaxConfigBytes + 1, ' ')).code, "RW0901");
  EXPECT_EQ(error_of(R"({"a": )" + std::string(100'000, '[')).code, "RW0901");
  // Brackets inside a string do not count.
  EXPECT_TRUE(read_hf_config(edited("{", R"({"a": "\")" + std::string(100, '[') + "\","), "f"));
}

TEST(HfConfig, RejectsSettingsThatAModelCannotExpress) {
  std::string text = contents(kConfigs / "qwen3-30b-a3b.json");
  text.replace(text.find("[]"), 2, "[0, 3]");
  EXPECT_EQ(error_of(text).code, "RW0914");
  text = contents(kConfigs / "deepseek-v3.json");
  text.replace(text.find("\"moe_layer_freq\": 1"), 19, "\"moe_layer_freq\": 2");
  EXPECT_EQ(error_of(text).code, "RW0914");
}

TEST(HfConfig, Contradiction_PointsAtItsKey) {
  const Diagnostic error =
      error_of(edited("\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3"));
  EXPECT_EQ(error.code, "RW0914");
  EXPECT_EQ(error.key, "num_key_value_heads");
  EXPECT_EQ(error.where.line, 6);
}

TEST(HfConfig, Errors_NameTheKeyAndItsValue) {
  std::string dense_layers = contents(kConfigs / "qwen3-30b-a3b.json");
  dense_layers.replace(dense_layers.find("[]"), 2, "[0, 3]");
  golden::expect(
      "import/hf-config-errors.txt",
      error_case("model_type: lama", edited("\"llama\"", "\"lama\"")) +
          error_case("a llama without hidden_size", edited("\"hidden_size\"", "\"hiden_size\"")) +
          error_case("an empty map", "{}") +
          error_case("a gpt2 without n_embd", R"({"model_type": "gpt2"})") +
          error_case("hidden_size: \"64\"", edited("64", "\"64\"")) +
          error_case("hidden_size: -64", edited("64", "-64")) +
          error_case("1 MiB and one byte", std::string(kMaxConfigBytes + 1, ' ')) +
          error_case("100,000 brackets", R"({"a": )" + std::string(100'000, '[')) +
          error_case("mlp_only_layers: [0, 3]", dense_layers) +
          error_case("3 key-value heads for 4 heads",
                     edited("\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3")));
}

// Truncates or changes a valid file anywhere: the result is a model or a diagnostic, never a crash.
RC_GTEST_PROP(HfConfig, CorruptedFile_NeverCrashes, ()) {
  static const std::string text = contents(kConfigs / "deepseek-v3.json");
  std::string broken = text.substr(0, *rc::gen::inRange<std::size_t>(0, text.size() + 1));
  for (int i = *rc::gen::inRange(0, 4); i > 0 && !broken.empty(); --i)
    broken[*rc::gen::inRange<std::size_t>(0, broken.size())] = *rc::gen::arbitrary<char>();
  const Result<model::Model> model = read_hf_config(broken, "config.json");
  RC_ASSERT(model || (!model.error().code.empty() && !model.error().detail.empty()));
}

}  // namespace hf_config_test
}  // namespace rankwright::importer
