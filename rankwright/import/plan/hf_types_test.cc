// Every model type, against the number of parameters that transformers builds: tests/data/hf_types.
#include <gtest/gtest.h>

#include <charconv>
#include <map>
#include <set>
#include <sstream>

#include "rankwright/import/plan/hf_config.h"
#include "rankwright/import/plan/hf_families.h"
#include "rankwright/import/syntax/file.h"
#include "rankwright/model/parameters.h"
#include "rankwright/model/shapes.h"

namespace rankwright::importer {
namespace hf_types_test {

const std::string kFolder = RANKWRIGHT_SOURCE_DIR "/tests/data/hf_types/";

/// Reads the table of counts: config -> parameters.
std::map<std::string, i64> read_counts() {
  std::map<std::string, i64> counts;
  std::istringstream lines(*read_file(kFolder + "parameters.csv"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t comma = line.find(',');
    i64 n = 0;
    const char* const end = line.data() + line.size();
    if (line.starts_with('#') || std::from_chars(line.data() + comma + 1, end, n).ec != std::errc{})
      continue;
    counts[line.substr(0, comma)] = n;
  }
  return counts;
}

std::string read_config(const std::string& name) { return *read_file(kFolder + name + ".json"); }

model::Model read_type(const std::string& name) {
  const Result<model::Model> model = read_hf_config(read_config(name), name + ".json");
  EXPECT_TRUE(model) << name << ": " << (model ? "" : model.error().detail);
  return model ? *model : model::Model{};
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// Returns W for each layer with a window, F for full attention, R for a recurrence.
std::string layer_kinds(const model::Model& model) {
  std::string kinds;
  for (i64 i = 0; i < model.layers(); ++i) {
    const model::Attention& a = model.layer(i).attention;
    kinds += a.recurrent() ? 'R' : !a.present() ? '-' : a.window > 0 ? 'W' : 'F';
  }
  return kinds;
}

TEST(HfTypes, Parameters_AreThoseOfTransformers) {
  const std::map<std::string, i64> counts = read_counts();
  EXPECT_GE(counts.size(), 60U);
  for (const auto& [name, parameters] : counts)
    EXPECT_EQ(count_parameters(read_type(name)).total(), parameters) << name;
}

TEST(HfTypes, EveryRow_HasAConfig) {
  std::set<std::string> types, architectures;
  for (const auto& [name, parameters] : read_counts()) {
    types.insert(name.substr(0, name.find('-')));
    architectures.insert(read_type(name).architecture);
  }
  for (const HfFamily& family : list_hf_families()) {
    if (family.model_type == "kimi_k2") continue;  // not in transformers, see the next test
    EXPECT_TRUE(types.count(std::string(family.model_type))) << family.model_type;
    EXPECT_NE(model::find_architecture(family.architecture), nullptr) << family.architecture;
  }
  for (const model::Architecture& a : model::architectures()) {
    if (a.name == "gpt") continue;  // built from shapes only
    EXPECT_TRUE(architectures.count(std::string(a.name))) << a.name << " has no config";
  }
}

TEST(HfTypes, KimiK2_IsADeepSeekV3) {
  const std::string text = replaced(read_config("deepseek_v3"), "\"deepseek_v3\"", "\"kimi_k2\"");
  EXPECT_EQ(*read_hf_config(text, "deepseek_v3.json"), read_type("deepseek_v3"));
}

// A plan file states the shapes of its model.
TEST(HfTypes, EveryModel_CanBeStatedInShapes) {
  for (const auto& [name, parameters] : read_counts())
    EXPECT_TRUE(derive_shapes(read_type(name))) << name;
}

TEST(HfTypes, LayerKinds_FollowThePatternOfTheType) {
  EXPECT_EQ(layer_kinds(read_type("mistral")), "WWWWWW");
  EXPECT_EQ(layer_kinds(read_type("gpt_oss")), "WFWFWF");
  EXPECT_EQ(layer_kinds(read_type("gemma2")), "WFWFWF");
  EXPECT_EQ(layer_kinds(read_type("gemma3_text")), "WWWWWF");
  EXPECT_EQ(layer_kinds(read_type("cohere2")), "WWWFWWWF");
  EXPECT_EQ(layer_kinds(read_type("llama4_text")), "WWWFWW");
  EXPECT_EQ(layer_kinds(read_type("cwm")), "FWWWFW");
  EXPECT_EQ(layer_kinds(read_type("gpt_neo")), "FWFWFW");
  EXPECT_EQ(layer_kinds(read_type("qwen3_next")), "RRRFRRRF");
  EXPECT_EQ(layer_kinds(read_type("minimax")), "FRFRFR");
  EXPECT_EQ(layer_kinds(read_type("bamba")), "RRFRRF");
  EXPECT_EQ(layer_kinds(read_type("nemotron_h")), "R-RF-RR-");
  EXPECT_EQ(layer_kinds(read_type("smollm3")), "FFFFFF");  // a window only if it is turned on
  EXPECT_TRUE(read_type("llama4_text").layer(0).attention.chunked);
}

// Hunyuan-A13B lists the visited experts of each layer.
TEST(HfTypes, ListOfEqualNumbers_IsThatNumber) {
  const std::string one = read_config("hunyuan_v1_moe");
  const std::string listed = replaced(one, "\"moe_topk\": 2", "\"moe_topk\": [2, 2, 2, 2, 2, 2]");
  EXPECT_EQ(*read_hf_config(listed, "hunyuan_v1_moe.json"), read_type("hunyuan_v1_moe"));
  const std::string mixed = replaced(one, "\"moe_topk\": 2", "\"moe_topk\": [2, 2, 2, 2, 2, 1]");
  EXPECT_EQ(read_hf_config(mixed, "config.json").error().code, "RW0903");
}

TEST(HfTypes, UnknownKindOfLayer_IsRefusedByName) {
  const std::string text =
      replaced(read_config("minimax-layer_types"), "\"full_attention\"", "\"ring_attention\"");
  const Result<model::Model> model = read_hf_config(text, "config.json");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, "RW0914");
  EXPECT_EQ(model.error().key, "layer_types");
  EXPECT_NE(model.error().detail.find("ring_attention"), std::string::npos);
}

TEST(HfTypes, PatternOfAnotherLength_IsRefused) {
  const std::string text =
      replaced(read_config("nemotron_h"), "\"M-M*-MM-\"", "\"M-M*-MM\"");  // 7 of 8 layers
  const Result<model::Model> model = read_hf_config(text, "config.json");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().key, "hybrid_override_pattern");
}

}  // namespace hf_types_test
}  // namespace rankwright::importer
