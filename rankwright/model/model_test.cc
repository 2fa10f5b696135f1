#include "rankwright/model/model.h"

#include <gtest/gtest.h>

namespace rankwright::model {
namespace model_test {

TEST(Attention, GroupedHeads_HaveTheExpectedWidths) {
  // Llama-3-8B: 32 query heads and 8 key-value heads of 128.
  const Attention a{.heads = 32, .kv_heads = 8, .head_dim = 128};
  EXPECT_EQ(a.query_width(), 4096);
  EXPECT_EQ(a.key_width(), 1024);
  EXPECT_EQ(a.value_width(), 4096);
}

TEST(Attention, LatentHeads_HaveTheExpectedWidths) {
  // DeepSeek-V3: 128 heads, keys of 128 + 64 with the position, values of 128.
  const Attention a{.kind = Attention::Kind::latent,
                    .heads = 128,
                    .kv_rank = 512,
                    .nope_dim = 128,
                    .rope_dim = 64,
                    .value_dim = 128};
  EXPECT_EQ(a.query_width(), 24576);
  EXPECT_EQ(a.key_width(), 24576);
  EXPECT_EQ(a.value_width(), 16384);
}

TEST(Model, Layer_IsFoundInItsRun) {
  Model model{.runs = {{.count = 3}, {.count = 58}}};
  model.runs[1].layer.ffn.experts = 256;
  EXPECT_EQ(model.layers(), 61);
  EXPECT_FALSE(model.layer(2).ffn.sparse());
  EXPECT_TRUE(model.layer(3).ffn.sparse());
  EXPECT_TRUE(model.layer(60).ffn.sparse());
  EXPECT_TRUE(model.sparse());
}

TEST(Model, Empty_HasNoLayers) {
  EXPECT_EQ(Model{}.layers(), 0);
  EXPECT_FALSE(Model{}.sparse());
}

TEST(ModelDeathTest, LayerOutOfRange_Aborts) {
  EXPECT_DEATH((void)Model{}.layer(0), "index < layers");
}

TEST(SameNetwork, IgnoresNames) {
  const Model a{.name = "a", .architecture = "llama", .hidden = 64};
  const Model b{.name = "b", .architecture = "mistral", .hidden = 64};
  const Model c{.name = "a", .architecture = "llama", .hidden = 128};
  EXPECT_TRUE(is_same_network(a, b));
  EXPECT_FALSE(is_same_network(a, c));
}

TEST(Freeze, MarksLayers_AndCanBeUndone) {
  Layer one, two;
  one.norms = 1;
  const Model whole{.name = "a", .runs = {{4, one}, {4, two}}};
  Model model = whole;
  freeze(model, {.embedding = true, .end = 6});
  ASSERT_EQ(model.runs.size(), 3U);
  EXPECT_EQ(model.layers(), 8);
  EXPECT_EQ(model.layer(5).training, Training::forward_only);
  EXPECT_EQ(model.layer(6).training, Training::full);
  EXPECT_EQ(show(model.frozen), "embedding, layers 0-5");
  EXPECT_TRUE(is_same_network(model, whole));
  freeze(model, {.first = 2, .end = 100});  // of layers that it does not have, none
  EXPECT_EQ(model.layer(7).training, Training::frozen);
  EXPECT_EQ(show(model.frozen), "layers 2-7");
  freeze(model, {});
  EXPECT_EQ(model, whole);
}

// Gradients of an encoder that is trained pass through the layers after it.
TEST(Freeze, TrainedEncoder_NeedsTheLayersGradients) {
  Model model{.runs = {{4, {}}}, .encoder_parameters = 10, .encoder_layers = 1};
  freeze(model, {.embedding = true, .end = 4, .head = true});
  EXPECT_EQ(model.layer(0).training, Training::frozen);
  EXPECT_FALSE(is_all_frozen(model));
  freeze(model, {.encoder = true, .embedding = true, .end = 4, .head = true});
  EXPECT_EQ(model.layer(0).training, Training::forward_only);
  EXPECT_TRUE(is_all_frozen(model));
}

}  // namespace model_test
}  // namespace rankwright::model
