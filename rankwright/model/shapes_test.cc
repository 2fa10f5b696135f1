#include "rankwright/model/shapes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "tests/support/shapes.h"

namespace rankwright::model {
namespace shapes_test {

TEST(ShapesOf, ModelThatNoShapesProduce_IsNothing) {
  EXPECT_FALSE(derive_shapes(Model{}));
  Model model = *catalog::find_model("llama-3.1-8b");
  model.runs.push_back({1, model.runs.front().layer});
  model.runs.back().layer.norms = 7;
  EXPECT_FALSE(derive_shapes(model));
  model = *catalog::find_model("llama-3.1-8b");
  model.architecture = "no such family";
  EXPECT_FALSE(derive_shapes(model));
}

TEST(ShapesOf, StatesOnlyWhatDiffersFromTheFamily) {
  const std::optional<Shapes> small = derive_shapes(*catalog::find_model("llama-3.2-1b"));
  ASSERT_TRUE(small);
  EXPECT_EQ(small->tied, true);  // llama's default is untied
  EXPECT_EQ(small->layers, 16);
  EXPECT_EQ(small->experts, 0);
  EXPECT_FALSE(small->qkv_bias || small->out_bias || small->ffn_bias);
  const std::optional<Shapes> deepseek = derive_shapes(*catalog::find_model("deepseek-v3"));
  ASSERT_TRUE(deepseek);
  EXPECT_EQ(deepseek->first_dense, 3);  // of 61 layers
  EXPECT_EQ(deepseek->sparse_every, 1);
  EXPECT_EQ(deepseek->experts, 256);
}

TEST(ShapesOf, FindsTheSpacingOfExpertLayers) {
  Shapes s{.name = "m", .architecture = "mixtral", .hidden = 8, .layers = 6, .heads = 2, .ffn = 9};
  s.vocab = s.experts = s.active_experts = s.expert_ffn = 1;
  s.sparse_every = 3;  // layers 2 and 5
  EXPECT_EQ(derive_shapes(*build(s))->first_dense, 0);
  EXPECT_EQ(derive_shapes(*build(s))->sparse_every, 3);
  s.first_dense = 3;  // only layer 5, the last: equivalent to every layer from there on
  EXPECT_EQ(derive_shapes(*build(s))->first_dense, 5);
  EXPECT_EQ(derive_shapes(*build(s))->sparse_every, 1);
  s.first_dense = 6;  // none
  EXPECT_EQ(derive_shapes(*build(s))->first_dense, 6);
}

TEST(ShapesOf, CatalogModels_RoundTrip) {
  ASSERT_FALSE(catalog::list_known_models().empty());
  for (const catalog::KnownModel& known : catalog::list_known_models()) {
    const std::optional<Shapes> shapes = derive_shapes(known.model);
    ASSERT_TRUE(shapes) << known.name;
    EXPECT_EQ(*build(*shapes), known.model) << known.name;
  }
}

RC_GTEST_PROP(ShapesOf, RandomModels_RoundTrip, ()) {
  const Result<Model> model = build(random_shapes());
  RC_ASSERT(model.has_value());
  const std::optional<Shapes> shapes = derive_shapes(*model);
  RC_ASSERT(shapes.has_value());
  RC_ASSERT(*build(*shapes) == *model);
}

RC_GTEST_PROP(ShapesOf, Encoders_RoundTrip, ()) {
  const auto any = [](i64 min, i64 max) { return *rc::gen::inRange<i64>(min, max + 1); };
  Shapes s = random_shapes();
  s.encoder_parameters = any(1, 1'000'000);
  s.encoder_layers = any(1, 9);
  s.encoder_hidden = 32;
  s.encoder_ffn = any(1, 99);
  s.encoder_heads = 1 << any(0, 5);
  s.encoder_matrices = *rc::gen::elementOf(std::vector<i64>{0, 2, 3});
  s.encoder_merge = any(0, 16);
  s.encoder_projector = any(0, 1'000'000);
  s.encoder_image_tokens = any(0, 999);
  s.encoder_stem = any(0, 999);
  s.encoder_window = any(0, 64);
  s.encoder_global_layers = s.encoder_window > 0 ? any(0, s.encoder_layers) : 0;
  if (any(0, 1) == 1) s.encoder_scales = true;
  if (any(0, 1) == 1) s.encoder_audio = true;
  const Result<Model> model = build(s);
  RC_ASSERT(model.has_value());
  const std::optional<Shapes> shapes = derive_shapes(*model);
  RC_ASSERT(shapes.has_value());
  RC_ASSERT(*build(*shapes) == *model);
}

}  // namespace shapes_test
}  // namespace rankwright::model
