#include "rankwright/import/plan/model_file.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "rankwright/model/architecture.h"
#include "rankwright/model/parameters.h"
#include "tests/support/finding_lines.h"
#include "tests/support/golden.h"
#include "tests/support/shapes.h"

namespace rankwright::importer {
namespace model_file_test {

struct Reading {
  std::optional<model::Model> model;
  Diagnostics findings;
};

/// Reads `yaml` as the value of `model` in a plan file.
Reading read(std::string_view yaml, const FileReader& files = refuse_file) {
  const Result<YamlNode> node = read_yaml(yaml, "plans/plan.yaml");
  EXPECT_TRUE(node) << yaml;
  Reading reading;
  if (!node) return reading;
  FieldReader reader("plans/plan.yaml", reading.findings);
  reading.model = read_model(reader, *node, files);
  return reading;
}

/// Returns every stated number of `shapes` under its name.
std::string as_yaml(const model::Shapes& shapes) {
  std::string text = "name: " + shapes.name + "\narchitecture: " + shapes.architecture + "\n";
  for (const model::ShapeField& field : model::list_shape_fields())
    if (const i64 n = shapes.*field.member)
      text += std::string(field.name) + ": " + std::to_string(n) + "\n";
  for (const model::ShapeFlag& flag : model::list_shape_flags())
    if (const std::optional<bool> value = shapes.*flag.member)
      text += std::string(flag.name) + (*value ? ": true\n" : ": false\n");
  if (!shapes.pattern.empty()) text += "pattern: \"" + shapes.pattern + "\"\n";
  return text;
}

const model::Shapes kSmall{.name = "small",
                           .architecture = "llama",
                           .hidden = 64,
                           .layers = 2,
                           .heads = 4,
                           .kv_heads = 2,
                           .ffn = 128,
                           .vocab = 100,
                           .max_sequence = 512};

const model::Shapes kLatent{.name = "latent",
                            .architecture = "deepseek_v3",
                            .hidden = 64,
                            .layers = 4,
                            .heads = 4,
                            .ffn = 128,
                            .vocab = 100,
                            .experts = 8,
                            .active_experts = 2,
                            .expert_ffn = 32,
                            .shared_ffn = 48,
                            .first_dense = 1,
                            .sparse_every = 2,
                            .q_rank = 24,
                            .kv_rank = 16,
                            .nope_dim = 12,
                            .rope_dim = 6,
                            .value_dim = 10,
                            .mtp_layers = 1};

TEST(ReadModel, ReadsACatalogName) {
  const Reading reading = read("meta-llama/Llama-3.1-8B");
  ASSERT_TRUE(reading.model);
  EXPECT_EQ(*reading.model, *catalog::find_model("llama-3.1-8b"));
  EXPECT_TRUE(reading.findings.empty());
}

TEST(ReadModel, UnknownName_HasItsLocation) {
  const Reading reading = read("lama-3.1-8b");
  EXPECT_FALSE(reading.model);
  ASSERT_EQ(reading.findings.size(), 1u);
  EXPECT_EQ(reading.findings[0].code, "RW0908");
  EXPECT_EQ(reading.findings[0].where.line, 1);
}

TEST(ReadModel, ReadsAConfigNextToThePlan) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    EXPECT_EQ(path, "plans/config.json");
    return R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
               "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 100})";
  };
  const Reading reading = read("config.json", files);
  ASSERT_TRUE(reading.model);
  EXPECT_EQ(reading.model->hidden, 64);
  EXPECT_EQ(read("config.json").findings.size(), 1u);  // a reader that refuses every file
}

TEST(ReadModel, ReadsEveryShapeUnderItsName) {
  for (const model::Shapes& shapes : {kSmall, kLatent}) {
    const Reading reading = read(as_yaml(shapes));
    ASSERT_TRUE(reading.model) << as_yaml(shapes);
    EXPECT_EQ(*reading.model, *build(shapes));
    EXPECT_TRUE(reading.findings.empty());
  }
}

RC_GTEST_PROP(ReadModel, ReadsShapesOfEveryFamily, ()) {
  const model::Shapes shapes = random_shapes();
  const Reading reading = read(as_yaml(shapes));
  RC_ASSERT(reading.findings.empty());
  RC_ASSERT(*reading.model == *build(shapes));
}

TEST(ReadModel, TiedFlag_RemovesTheHead) {
  // llama is untied by default; tying the head saves 100 * 64 weights.
  const i64 apart = count_parameters(*read(as_yaml(kSmall)).model).total();
  EXPECT_EQ(count_parameters(*read(as_yaml(kSmall) + "tied: yes\n").model).total(), apart - 6400);
  EXPECT_EQ(count_parameters(*read(as_yaml(kSmall) + "tied: no\n").model).total(), apart);
}

TEST(ReadModel, Contradiction_PointsAtTheShape) {
  constexpr std::string_view kRest =
      "architecture: llama\nhidden: 64\nlayers: 2\nffn: 8\nvocab: 9\n";
  const Reading stated = read(std::string(kRest) + "heads: 4\nkv_heads: 3");
  EXPECT_FALSE(stated.model);
  ASSERT_EQ(stated.findings.size(), 1u);
  EXPECT_EQ(stated.findings[0].code, "RW0914");
  EXPECT_EQ(stated.findings[0].key, "model.kv_heads");
  EXPECT_EQ(stated.findings[0].where.line, 7);

  // A missing shape is reported at the map.
  const Reading missing = read(std::string(kRest));
  ASSERT_EQ(missing.findings.size(), 1u);
  EXPECT_EQ(missing.findings[0].key, "model.heads");
  EXPECT_EQ(missing.findings[0].where.line, 1);
}

TEST(ReadModel, UnreadableShape_IsNotAlsoReportedMissing) {
  const Reading reading =
      read("architecture: llama\nhidden: wide\nlayers: 2\nheads: 4\nffn: 8\nvocab: 9");
  EXPECT_FALSE(reading.model);
  ASSERT_EQ(reading.findings.size(), 1u);
  EXPECT_EQ(reading.findings[0].where.line, 2);
}

TEST(ReadModel, UnknownKey_IsAWarning) {
  const Reading reading = read(as_yaml(kSmall) + "hiden: 64\n");
  EXPECT_TRUE(reading.model);
  ASSERT_EQ(reading.findings.size(), 1u);
  EXPECT_EQ(reading.findings[0].code, "RW0902");
  golden::expect("import/model-file-unknown-key.txt", format_findings(reading.findings));
}

TEST(ReadModel, RejectsShapesOutOfRange) {
  EXPECT_FALSE(read("architecture: llama\nhidden: -1").model);
  EXPECT_FALSE(read("architecture: llama\nhidden: 4294967297").model);  // 2^32 + 1
  EXPECT_FALSE(read("[llama]").model);
}

TEST(ReadModelArgument, JsonSuffixMeansAFile) {
  EXPECT_EQ(read_model_argument("gpt2", refuse_file)->name, "gpt2");
  const Result<model::Model> file = read_model_argument("gpt2.json", refuse_file);
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().code, "RW0908");
}

RC_GTEST_PROP(ReadModel, RandomShapes_GiveTheirModel, ()) {
  model::Shapes shapes = kSmall;
  shapes.heads = *rc::gen::inRange<i64>(1, 64);
  shapes.kv_heads = 0;
  shapes.head_dim = *rc::gen::inRange<i64>(1, 256);
  shapes.hidden = *rc::gen::inRange<i64>(1, 1 << 16);
  shapes.layers = *rc::gen::inRange<i64>(1, 200);
  shapes.ffn = *rc::gen::inRange<i64>(1, 1 << 18);
  shapes.vocab = *rc::gen::inRange<i64>(1, 1 << 20);
  shapes.tied = *rc::gen::arbitrary<bool>();
  const Result<model::Model> built = build(shapes);
  const Reading reading = read(as_yaml(shapes));
  RC_ASSERT(built.has_value() == reading.model.has_value());
  if (built) RC_ASSERT(*reading.model == *built);
}

}  // namespace model_file_test
}  // namespace rankwright::importer
