// Windows of attention in Hugging Face configs.
#include <gtest/gtest.h>

#include <algorithm>

#include "rankwright/catalog/catalog.h"
#include "rankwright/import/plan/hf_config.h"
#include "rankwright/import/syntax/file.h"

namespace rankwright::importer {
namespace window_test {

i64 max_window(const model::Model& model) {
  i64 window = 0;
  for (const model::LayerRun& run : model.runs)
    window = std::max(window, run.layer.attention.window);
  return window;
}

i64 window_of(const std::string& model_type, const std::string& more) {
  const Result<model::Model> model = read_hf_config(
      "{\"model_type\": \"" + model_type +
          "\", \"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
          "\"intermediate_size\": 128, \"vocab_size\": 100" +
          more + "}",
      "config.json");
  EXPECT_TRUE(model.has_value());
  return model ? max_window(*model) : -1;
}

TEST(Window, IsReadUnlessItIsOff) {
  EXPECT_EQ(window_of("mistral", ", \"sliding_window\": 4096"), 4096);
  EXPECT_EQ(window_of("mistral", ", \"sliding_window\": null"), 0);
  EXPECT_EQ(window_of("mistral", ""), 0);
  EXPECT_EQ(window_of("qwen2", ", \"sliding_window\": 4096"), 0);  // off unless stated
  EXPECT_EQ(window_of("qwen2", ", \"sliding_window\": 4096, \"use_sliding_window\": false"), 0);
  // Qwen's windows begin at layer max_window_layers, 28 if it is not stated.
  EXPECT_EQ(window_of("qwen2", ", \"sliding_window\": 4096, \"use_sliding_window\": true"), 0);
  EXPECT_EQ(window_of("qwen2",
                      ", \"sliding_window\": 4096, \"use_sliding_window\": true, "
                      "\"max_window_layers\": 1"),
            4096);
  EXPECT_EQ(window_of("gemma2",
                      ", \"sliding_window\": 32, \"layer_types\": "
                      "[\"sliding_attention\", \"full_attention\"]"),
            32);
  EXPECT_EQ(window_of("gemma2",
                      ", \"sliding_window\": 32, \"layer_types\": [\"full_attention\", "
                      "\"full_attention\"]"),
            0);
}

TEST(Window, CatalogModels_HaveThatOfTheirConfigs) {
  const std::pair<const char*, i64> rows[] = {{"mistral-7b", 4096}, {"gemma-2-9b", 4096},
                                              {"phi-3-mini", 2047}, {"qwen2.5-7b", 0},
                                              {"qwen3-8b", 0},      {"mixtral-8x7b", 0}};
  for (const auto& [name, window] : rows) {
    const Result<model::Model> known = catalog::find_model(name);
    const Result<std::string> text =
        read_file(RANKWRIGHT_SOURCE_DIR "/tests/data/hf/" + std::string(name) + ".json");
    ASSERT_TRUE(known && text) << name;
    const Result<model::Model> config = read_hf_config(*text, "config.json");
    ASSERT_TRUE(config) << name;
    EXPECT_EQ(max_window(*known), window) << name;
    EXPECT_EQ(max_window(*config), window) << name;
  }
}

}  // namespace window_test
}  // namespace rankwright::importer
