#include "rankwright/model/architecture.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "rankwright/model/parameters.h"
#include "tests/support/golden.h"

namespace rankwright::model {
namespace architecture_test {

const Shapes kSmall{
    .architecture = "llama", .hidden = 64, .layers = 4, .heads = 4, .ffn = 128, .vocab = 100};

Shapes sparse() {
  Shapes s = kSmall;
  s.architecture = "qwen2_moe";
  s.experts = 8;
  s.active_experts = 2;
  s.expert_ffn = 32;
  return s;
}

Diagnostic error_of(const Shapes& shapes) {
  const Result<Model> model = build(shapes);
  EXPECT_FALSE(model);
  return model ? Diagnostic{} : model.error();
}

TEST(Architectures, HaveUniqueNamesAndSummaries) {
  std::set<std::string_view> names;
  ASSERT_FALSE(architectures().empty());
  for (const Architecture& a : architectures()) {
    EXPECT_TRUE(names.insert(a.name).second) << a.name;
    EXPECT_FALSE(a.summary.empty()) << a.name;
    EXPECT_EQ(find_architecture(a.name), &a);
  }
  EXPECT_FALSE(names.empty());
  EXPECT_EQ(find_architecture("bert"), nullptr);
}

TEST(Build, GroupLimitedRouting_IsChecked) {
  Shapes s = sparse();  // 2 of 8 experts
  s.expert_groups = 4;
  s.active_groups = 1;
  EXPECT_EQ(build(s)->layer(0).ffn.groups, 4);
  s.expert_groups = 8;  // groups of one expert: 1 group has fewer than 2
  EXPECT_EQ(error_of(s).key, "active_groups");
  s.expert_groups = 3;
  EXPECT_EQ(error_of(s).key, "expert_groups");
  s.expert_groups = 1;  // no limit
  EXPECT_EQ(build(s)->layer(0).ffn.groups, 0);
}

TEST(Build, Encoder_HasDefaultsAndIsChecked) {
  Shapes s = kSmall;
  s.encoder_parameters = 1000;
  s.encoder_layers = 2;
  EXPECT_EQ(build(s)->encoder, Encoder{});  // shapes not known
  s.encoder_hidden = 32;
  EXPECT_EQ(error_of(s).key, "encoder_ffn");
  s.encoder_ffn = 64;
  s.encoder_heads = 3;
  EXPECT_EQ(error_of(s).key, "encoder_heads");
  s.encoder_heads = 4;
  EXPECT_EQ(build(s)->encoder.matrices, 2);
  EXPECT_EQ(build(s)->encoder.merge, 1);
  s.encoder_matrices = 1;
  EXPECT_EQ(error_of(s).key, "encoder_matrices");
  s.encoder_matrices = 2;
  s.encoder_global_layers = 1;  // without a window, all are
  EXPECT_EQ(error_of(s).key, "encoder_global_layers");
  s.encoder_window = 64;
  EXPECT_EQ(build(s)->encoder.global_layers, 1);
  s.encoder_global_layers = 3;
  EXPECT_EQ(error_of(s).key, "encoder_global_layers");
  s.encoder_global_layers = 0;
  s.encoder_matrices = 4;
  EXPECT_EQ(error_of(s).code, "RW0904");
}

TEST(Build, UnstatedShapes_GetDefaults) {
  const Model model = *build(kSmall);
  EXPECT_EQ(model.layers(), 4);
  EXPECT_EQ(model.layer(0).attention.kv_heads, 4);
  EXPECT_EQ(model.layer(0).attention.head_dim, 16);
  EXPECT_FALSE(model.tied);
  EXPECT_FALSE(model.sparse());

  Shapes gpt = kSmall;
  gpt.architecture = "gpt";
  gpt.ffn = 0;
  EXPECT_EQ(build(gpt)->layer(0).ffn.width, 4 * 64);
  EXPECT_EQ(build(gpt)->positions, 0);
  EXPECT_TRUE(build(gpt)->tied);
  gpt.tied = false;
  EXPECT_FALSE(build(gpt)->tied);
}

TEST(Build, EqualLayers_AreOneRun) {
  EXPECT_EQ(build(kSmall)->runs.size(), 1u);
  EXPECT_EQ(build(sparse())->runs.size(), 1u);
}

TEST(Build, FirstDense_MakesTheFirstLayersDense) {
  Shapes s = sparse();
  s.first_dense = 1;
  const Model model = *build(s);
  ASSERT_EQ(model.runs.size(), 2u);
  EXPECT_EQ(model.runs[0].count, 1);
  EXPECT_EQ(model.layer(0).ffn.width, 128);
  EXPECT_EQ(model.layer(1).ffn.experts, 8);
}

TEST(Build, SparseEvery_MakesEveryNthLayerSparse) {
  Shapes s = sparse();
  s.sparse_every = 2;
  const Model model = *build(s);
  for (i64 i = 0; i < 4; ++i) EXPECT_EQ(model.layer(i).ffn.sparse(), i % 2 == 1) << i;
}

TEST(Build, MissingShape_IsNamed) {
  int checked = 0;
  for (const ShapeField& field : list_shape_fields()) {
    if (field.name != "hidden" && field.name != "layers" && field.name != "heads" &&
        field.name != "ffn" && field.name != "vocab")
      continue;
    Shapes s = kSmall;
    s.*field.member = 0;
    const Diagnostic error = error_of(s);
    EXPECT_EQ(error.code, "RW0914") << field.name;
    EXPECT_EQ(error.key, field.name);
    ++checked;
  }
  EXPECT_EQ(checked, 5);
  Shapes latent = sparse();
  latent.architecture = "deepseek_v3";
  EXPECT_EQ(error_of(latent).key, "kv_rank");
}

TEST(Build, ContradictingShape_IsNamed) {
  Shapes s = kSmall;
  s.heads = 5;
  EXPECT_EQ(error_of(s).key, "head_dim");
  s = kSmall;
  s.kv_heads = 3;
  std::string details = error_of(s).detail + "\n";  // 3 kv_heads, 4 heads
  s = kSmall;
  s.experts = 8;
  EXPECT_EQ(error_of(s).key, "experts");
  s = kSmall;
  s.positions = 1024;
  EXPECT_EQ(error_of(s).key, "positions");
  s = sparse();
  s.active_experts = 9;
  details += error_of(s).detail + "\n";  // 9 of 8 experts
  golden::expect("model/contradicting-shapes.txt", details);
}

TEST(Build, MisspelledArchitecture_GetsASuggestion) {
  Shapes s = kSmall;
  s.architecture = "lama";
  std::string hints = "lama: " + error_of(s).hint + "\n";
  s.architecture = "transformer-xl";  // similar to none: all are listed
  hints += "transformer-xl: " + error_of(s).hint + "\n";
  golden::expect("model/unknown-architectures.txt", hints);
}

TEST(Build, OutOfRangeShape_IsRejected) {
  Shapes s = kSmall;
  s.layers = kMaxLayers + 1;
  EXPECT_EQ(error_of(s).code, "RW0904");
  s = kSmall;
  s.vocab = -1;
  std::string details = error_of(s).detail + "\n";
  s = kSmall;
  s.vocab = kMaxCount;
  details += error_of(s).detail + "\n";
  golden::expect("model/shapes-out-of-range.txt", details);  // -1, and 2^50 rows of 64 columns
  s = kSmall;
  s.mtp_layers = 5;
  EXPECT_EQ(error_of(s).key, "mtp_layers");
}

// For any numbers in a file, the result is an error or a model whose counts are exact.
RC_GTEST_PROP(Build, NeverOverflows, ()) {
  Shapes s;
  const std::vector<Architecture> rows(architectures().begin(), architectures().end());
  s.architecture = rows[*rc::gen::inRange<std::size_t>(0, rows.size())].name;
  for (const ShapeField& field : list_shape_fields()) {
    const int bits = *rc::gen::inRange(0, 20) == 0 ? 63 : *rc::gen::inRange(0, 20);
    s.*field.member = *rc::gen::inRange<i64>(0, i64{1} << std::min(bits, 62));
  }
  s.layers = std::min(s.layers, i64{256});
  const Result<Model> model = build(s);
  if (!model) return;
  // The sanitizers detect overflow in the sums.
  RC_ASSERT(count_parameters(*model).total() > 0);
  RC_ASSERT(count_parameters(*model).total() + count_mtp_parameters(*model).total() <
            32 * kMaxCount);
}

}  // namespace architecture_test
}  // namespace rankwright::model
