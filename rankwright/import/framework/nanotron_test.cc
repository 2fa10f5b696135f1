#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_format.h"
#include "rankwright/model/parameters.h"
#include "tests/support/finding_lines.h"
#include "tests/support/golden.h"

namespace rankwright::importer {
namespace nanotron_test {

using ::testing::ElementsAre;

constexpr std::string_view kConfig =
    "general: {project: smol}\n"
    "parallelism:\n"
    "  dp: 4\n"
    "  tp: 2\n"
    "  pp: 1\n"
    "  pp_engine: 1f1b\n"
    "  tp_mode: REDUCE_SCATTER\n"
    "optimizer:\n"
    "  zero_stage: 1\n"
    "  accumulate_grad_in_fp32: true\n"
    "tokens:\n"
    "  micro_batch_size: 8\n"
    "  batch_accumulation_per_replica: 16\n"
    "  sequence_length: 2048\n";

PlanFile read(std::string text) { return read_any_plan(std::move(text), "a.yaml", refuse_file); }

TEST(NanotronImport, ReadsDegreesAndTheBatch) {
  const PlanFile plan = read(std::string(kConfig));
  ASSERT_TRUE(plan.findings.empty());
  EXPECT_EQ(plan.format->name, "nanotron");
  const rankwright::plan::TrainingConfig config = resolve(plan.draft);
  EXPECT_EQ(config.world, 8);               // 4 x 2 x 1
  EXPECT_EQ(config.job.global_batch, 512);  // 8 x 16 x dp 4
  EXPECT_EQ(config.plan.zero, 1);
  EXPECT_TRUE(config.plan.sequence_parallel);
  EXPECT_EQ(config.job.grad_dtype, plan::Dtype::fp32);
  EXPECT_THAT(plan.ignored_keys, ElementsAre("general.project"));
}

TEST(NanotronImport, RecordsTheLocationOfEachKey) {
  const PlanFile plan = read(std::string(kConfig));
  EXPECT_EQ(plan.where("parallelism.tp_size").line, 4);
  EXPECT_EQ(plan.where("parallelism.tp_size").column, 7);
  EXPECT_EQ(plan.where("job.global_batch").line, 13);
}

TEST(NanotronImport, SpellsEditsAsKeys) {
  const PlanFormat& format = *find_plan_format("nanotron");
  EXPECT_EQ(spell_edits(format, {{"parallelism.tp_size", "4"}, {"cluster", "dgx-h100"}}),
            "parallelism.tp: 4, --cluster \"dgx-h100\"");
}

TEST(NanotronImport, UnknownValue_IsReported) {
  std::string text(kConfig);
  text.replace(text.find("1f1b"), 4, "2f2b");
  const PlanFile plan = read(text);
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].code, "RW0907");
  EXPECT_EQ(plan.findings[0].where.line, 6);
  golden::expect("import/nanotron-unknown-value.txt", format_findings(plan.findings));
}

TEST(NanotronImport, IgnoredSettings_AreReported) {
  std::string text(kConfig);
  text.insert(text.find("  dp: 4"),
              "  tp_recompute_allgather: false\n  moe_layer_recompute: true\n");
  const PlanFile plan = read(text);
  ASSERT_EQ(plan.findings.size(), 2u);
  for (const Diagnostic& finding : plan.findings) EXPECT_EQ(finding.code, "RW0601");
  EXPECT_EQ(plan.findings[0].where.line, 4);
}

TEST(NanotronImport, ReadsTheModel) {
  const PlanFile plan = read(std::string(kConfig) +
                             "model:\n  dtype: bfloat16\n  model_config:\n    is_llama_config: "
                             "true\n    hidden_size: 2048\n    intermediate_size: 5632\n    "
                             "num_hidden_layers: 22\n    num_attention_heads: 32\n    "
                             "num_key_value_heads: 4\n    vocab_size: 32000\n    rope_scaling: "
                             "null\n    tie_word_embeddings: false\n");
  ASSERT_TRUE(plan.findings.empty()) << plan.findings[0].detail;
  ASSERT_TRUE(plan.draft.model.has_value());
  // TinyLlama: 2 x 32,000 x 2,048 + 22 (2 x 2,048 x 2,048 + 2 x 2,048 x 256 + 3 x 2,048 x 5,632 +
  // 2 x 2,048) + 2,048
  EXPECT_EQ(count_parameters(*plan.draft.model).total(), 1100048384);
}

TEST(Nanotron, UnknownFamilies_AreReported) {
  const PlanFile plan = read_any_plan(
      "model:\n  model_config: {is_cola_llama_config: true, hidden_size: 1024, "
      "num_hidden_layers: 8,\n    num_attention_heads: 8, num_key_value_heads: 8, "
      "intermediate_size: 4096, vocab_size: 32000}\n"
      "parallelism: {dp: 1, pp: 1, tp: 1}\ntokens: {micro_batch_size: 1, sequence_length: 256}\n",
      "a.yaml", refuse_file);
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].detail, "is_cola_llama_config: estimated as Llama");
}

// nanotron 0.4: only the accumulator of fp32 gradients has fp32 weights, and AdamW makes its states
// in the format of the weights that it gets.
TEST(NanotronImport, WithoutAccumulator_StatesAreIn16Bits) {
  std::string text(kConfig);
  const Draft wide = read(text).draft;
  EXPECT_FALSE(wide.master_dtype.has_value());
  const std::string on = "accumulate_grad_in_fp32: true";
  text.replace(text.find(on), on.size(), "accumulate_grad_in_fp32: false");
  const Draft narrow = read(text).draft;
  EXPECT_EQ(narrow.grad_dtype, plan::Dtype::bf16);
  EXPECT_EQ(narrow.master_dtype, plan::Dtype::bf16);
  EXPECT_EQ(narrow.moment_dtype, plan::Dtype::bf16);
}

// Experts of 2 x 1024 x 4096, 8 of them, a router of 8 x 1024 and attention of 4 x 1024 x 1024 in
// each of 16 layers, and 2 x 32000 x 1024 of embeddings: 1.207 B.
TEST(NanotronImport, ExpertsOfExamplesMoe_HaveTwoMatrices) {
  const PlanFile plan = read(
      "model:\n  model_config:\n    hidden_act: silu\n    hidden_size: 1024\n"
      "    intermediate_size: 4096\n    is_llama_config: true\n"
      "    num_attention_heads: 16\n    num_key_value_heads: 16\n"
      "    num_hidden_layers: 16\n    vocab_size: 32000\n    tie_word_embeddings: false\n"
      "    moe_num_experts: 8\n    num_experts_per_tok: 2\n    moe_capacity_factor: 1\n" +
      std::string(kConfig));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_NEAR(double(count_parameters(*plan.draft.model).total()), 1.207e9, 0.001e9);
  EXPECT_EQ(plan.draft.model->layer(0).ffn.active, 2);
}

// A fork for images and text has the shapes of the language model below.
TEST(NanotronImport, LanguageModelOfAVisionConfig) {
  const PlanFile plan = read_any_plan(
      "model:\n  dtype: bfloat16\n  model_config:\n    image_token_id: 5\n    text_config:\n"
      "      hidden_size: 1024\n      intermediate_size: 4096\n      num_attention_heads: 16\n"
      "      num_hidden_layers: 4\n      num_key_value_heads: 16\n      vocab_size: 32000\n"
      "parallelism:\n  dp: 1\n  tp: 2\n  pp: 1\ntokens:\n  micro_batch_size: 1\n"
      "  sequence_length: 2048\n  batch_accumulation_per_replica: 1\n",
      "vqa.yaml", refuse_file);
  EXPECT_FALSE(has_errors(plan.findings));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layers(), 4);
}

TEST(NanotronImport, OptimizersOfForks_AreNoErrors) {
  const auto optimizer = [](const std::string& name) {
    std::string text(kConfig);
    text.replace(text.find("  zero_stage: 1\n"), 16,
                 "  zero_stage: 1\n  optimizer_factory: {name: " + name + "}\n");
    const PlanFile plan = read(text);
    EXPECT_FALSE(has_errors(plan.findings)) << name;
    return plan.draft.optimizer;
  };
  EXPECT_EQ(optimizer("adamW"), plan::Optimizer::adam);
  EXPECT_EQ(optimizer("muon"), plan::Optimizer::muon);
  EXPECT_EQ(optimizer("custom"), plan::Optimizer::adam);
}

TEST(NanotronImport, LayersOfMamba_LeaveTheModelOpen) {
  const PlanFile plan =
      read("model:\n  model_config:\n    d_model: 1536\n    is_mamba_config: true\n" +
           std::string(kConfig));
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_FALSE(plan.draft.model.has_value());
}

}  // namespace nanotron_test
}  // namespace rankwright::importer
