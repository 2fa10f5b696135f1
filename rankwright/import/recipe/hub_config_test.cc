// Models that a recipe of NeMo Automodel states by the keys of a config of transformers.
#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_format.h"
#include "rankwright/model/parameters.h"
#include "tests/support/left_out.h"

namespace rankwright::importer {
namespace hub_config_test {

using ::testing::Not;
using ::testing::Optional;

/// A recipe with this config of its model.
PlanFile automodel(const std::string& config, const std::string& more = "") {
  return read_any_plan(
      "step_scheduler: {global_batch_size: 64, local_batch_size: 1}\nmodel:\n"
      "  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_config\n  config:\n" +
          config + "dataset: {seq_len: 4096}\n" + more,
      "a.yaml", refuse_file);
}

// TinyLlama: 2 x 32000 x 2048 of embeddings and head; 22 layers of 2048 x (2 x 2048 + 2 x 256) of
// attention, 3 x 2048 x 5632 of the MLP and 2 norms; a last norm. 1.1 B in all.
TEST(HubConfig, ClassAndItsArguments_AreTheModel) {
  const PlanFile plan = automodel(
      "    _target_: transformers.models.llama.configuration_llama.LlamaConfig\n"
      "    vocab_size: 32000\n    hidden_size: 2048\n    intermediate_size: 5632\n"
      "    num_hidden_layers: 22\n    num_attention_heads: 32\n    num_key_value_heads: 4\n"
      "    rope_theta: 10000.0\n    attention_bias: False\n");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(count_parameters(*plan.draft.model).total(), 1'100'048'384);
}

TEST(HubConfig, ClassOfAModelWithExperts_IsRead) {
  const PlanFile plan = automodel(
      "    _target_: transformers.models.qwen3_moe.configuration_qwen3_moe.Qwen3MoeConfig\n"
      "    vocab_size: 4096\n    hidden_size: 2048\n    intermediate_size: 4096\n"
      "    num_hidden_layers: 2\n    num_attention_heads: 8\n    num_key_value_heads: 4\n"
      "    num_experts: 4\n    num_experts_per_tok: 2\n    moe_intermediate_size: 1024\n");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layers(), 2);
  EXPECT_EQ(plan.draft.model->layer(0).ffn.experts, 4);
  EXPECT_EQ(plan.draft.model->layer(0).ffn.active, 2);
}

TEST(HubConfig, UnknownClass_IsReported) {
  const PlanFile plan =
      automodel("    _target_: my.NewConfig\n    hidden_size: 2048\n    num_hidden_layers: 2\n");
  EXPECT_FALSE(plan.draft.model.has_value());
  EXPECT_THAT(plan.findings, left_out("model_type"));
}

TEST(HubConfig, ArgumentsChangeANamedModel) {
  const PlanFile plan = automodel(
      "    _target_: transformers.AutoConfig.from_pretrained\n"
      "    pretrained_model_name_or_path: Qwen/Qwen3-30B-A3B\n    num_hidden_layers: 4\n");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layers(), 4);
  EXPECT_EQ(plan.draft.model->layer(0).ffn.experts, 128);
}

// The default keeps whole gradients until the last micro-batch (nemo_automodel's get_sync_ctx).
TEST(Automodel, GradientsThatAreNotDeferred_AreReducedInEveryMicroBatch) {
  const std::string config = "    pretrained_model_name_or_path: meta-llama/Llama-3.1-8B\n";
  const std::string key = "distributed: {strategy: fsdp2, defer_fsdp_grad_sync: ";
  EXPECT_THAT(automodel(config, key + "False}\n").draft.sync_each_batch, Optional(true));
  EXPECT_FALSE(automodel(config, key + "true}\n").draft.sync_each_batch.has_value());
}

// The launcher's nodes are stated with their ranks, those of a benchmark without.
TEST(Automodel, ReadsTheNodes) {
  const std::string config = "    pretrained_model_name_or_path: meta-llama/Llama-3.1-8B\n";
  const PlanFile launched = automodel(config, "slurm: {nodes: 2, ntasks_per_node: 4}\n");
  ASSERT_TRUE(launched.draft.shape.has_value());
  EXPECT_EQ(launched.draft.shape->nodes, 2);
  EXPECT_EQ(launched.draft.shape->gpus, 4);
  EXPECT_THAT(automodel(config, "benchmark: {num_nodes: 8}\n").usual_world, Optional(64));
}

TEST(Automodel, SettingsWithoutAnEstimate_AreReported) {
  const std::string config = "    pretrained_model_name_or_path: Qwen/Qwen3-30B-A3B\n";
  EXPECT_THAT(automodel(config, "teacher_distributed: {dp_size: 1, tp_size: 2}\n").findings,
              left_out("teacher"));
  EXPECT_THAT(automodel(config, "qat: {enabled: true}\n").findings, left_out("qat"));
  EXPECT_THAT(automodel(config, "peft: {dim: 32, moe_rank_scaling: true}\n").findings,
              left_out("moe_rank_scaling"));
  const std::string policy = "distributed: {mp_policy: {param_dtype: ";
  EXPECT_THAT(automodel(config, policy + "float32}}\n").findings, left_out("mp_policy"));
  EXPECT_THAT(automodel(config, policy + "bfloat16}}\n").findings,
              ::testing::Not(left_out("mp_policy")));
}

// Findings about the model are at its name.
TEST(Automodel, UnknownModel_IsLocatedAtItsName) {
  const PlanFile plan = read_any_plan(
      "step_scheduler: {global_batch_size: 64, local_batch_size: 1}\nmodel:\n"
      "  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained\n"
      "  pretrained_model_name_or_path: some/new-model\n",
      "a.yaml", refuse_file);
  ASSERT_EQ(plan.keys.at(0).path, "model");
  EXPECT_EQ(plan.keys.at(0).where.line, 4);
}

TEST(Automodel, BuilderOfGpt2_StatesItsShapes) {
  const std::string text =
      "recipe: Train\nstep_scheduler: {global_batch_size: 16, local_batch_size: 8}\nmodel:\n"
      "  _target_: nemo_automodel.components.models.gpt2.build_gpt2_model\n"
      "  vocab_size: 50304\n  n_positions: 1024\n";
  const auto read = [](const std::string& recipe) {
    return read_any_plan(recipe, "a.yaml", refuse_file);
  };
  const PlanFile plan = read(text);
  ASSERT_TRUE(plan.draft.model.has_value());
  // 12 layers of 12 x 768 squared, their biases and norms; embeddings of 50,304 + 1,024 rows.
  EXPECT_NEAR(double(count_parameters(*plan.draft.model).total()), 124.5e6, 0.5e6);
  EXPECT_THAT(read(text + "  mlp_type: swiglu\n").findings, left_out("mlp_type"));
}

// 64 sequences on 2 data ranks, 4 in a local batch: 8 passes with 4 micro-batches each.
TEST(Automodel, PassesThroughAPipeline_AreReported) {
  const auto batch = [](const std::string& local) {
    return read_any_plan(
               "recipe: Train\nstep_scheduler: {global_batch_size: 64, local_batch_size: " + local +
                   "}\nslurm: {nodes: 1, ntasks_per_node: 8}\n"
                   "distributed: {strategy: fsdp2, pp_size: 4, pipeline: {pp_schedule: 1f1b, "
                   "pp_microbatch_size: 1}}\nmodel:\n"
                   "  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained\n"
                   "  pretrained_model_name_or_path: Qwen/Qwen2.5-7B\n",
               "a.yaml", refuse_file)
        .findings;
  };
  EXPECT_THAT(batch("4"), left_out("8 passes through the pipeline with 4 micro-batches each"));
  EXPECT_THAT(batch("32"), Not(left_out("passes through the pipeline")));
}

}  // namespace hub_config_test
}  // namespace rankwright::importer
