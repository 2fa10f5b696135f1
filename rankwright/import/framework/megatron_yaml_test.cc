#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_format.h"

namespace rankwright::importer {
namespace megatron_yaml_test {

using ::testing::Optional;

PlanFile read(std::string text, const ShellInput& variables = {}) {
  return read_any_plan(std::move(text), "config.yaml", refuse_file, variables);
}

const std::string kFlags =
    "ENV_VARS:\n  NCCL_DEBUG: VERSION\n"
    "MODEL_ARGS:\n"
    "  --num-layers: 24\n  --hidden-size: 2048\n  --num-attention-heads: 16\n"
    "  --seq-length: 4096\n  --max-position-embeddings: 4096\n"
    "  --tokenizer-type: GPT2BPETokenizer\n  --bf16: true\n  --sequence-parallel: true\n"
    "  --use-distributed-optimizer: true\n  --finetune: false\n"
    "  --tensor-model-parallel-size: ${TP}\n  --pipeline-model-parallel-size: 2\n"
    "  --micro-batch-size: 1\n  --global-batch-size: 64\n"
    "  --recompute-granularity: selective\n  --recompute-modules: [core_attn, layernorm]\n";

TEST(MegatronYaml, FlagsAreRead) {
  const PlanFile plan = read(kFlags, {.variables = {{"TP", "4"}}});
  EXPECT_EQ(plan.format->name, "megatron");
  EXPECT_TRUE(plan.findings.empty()) << plan.findings[0].detail;
  EXPECT_THAT(plan.draft.tp, Optional(4));
  EXPECT_THAT(plan.draft.pp, Optional(2));
  EXPECT_THAT(plan.draft.zero, Optional(1));
  EXPECT_THAT(plan.draft.global_batch, Optional(64));
  EXPECT_THAT(plan.draft.sequence_parallel, Optional(true));
  EXPECT_THAT(plan.draft.param_dtype, Optional(plan::Dtype::bf16));
  EXPECT_THAT(plan.draft.recompute_modules, Optional(plan::RecomputeModules{.layernorm = true}));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layers(), 24);
  EXPECT_EQ(plan.where("parallelism.pp_size").line, 15);
}

TEST(MegatronYaml, UnknownVariable_IsReportedAndLeavesTheRest) {
  const PlanFile plan = read(kFlags);
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].code, "RW0614");
  EXPECT_EQ(plan.findings[0].hint, "--set TP=VALUE");
  EXPECT_EQ(plan.draft.tp, std::nullopt);
  EXPECT_THAT(plan.draft.pp, Optional(2));
}

TEST(MegatronYaml, RecipeOfNemo_IsRead) {
  const PlanFile plan = read(
      "trainer: {num_nodes: 4, devices: 8, precision: bf16}\n"
      "exp_manager:\n  checkpoint_callback_params: {model_parallel_size: 7}\n"
      "model:\n  micro_batch_size: 1\n  global_batch_size: 128\n"
      "  tensor_model_parallel_size: 4\n  pipeline_model_parallel_size: 2\n"
      "  virtual_pipeline_model_parallel_size: null\n  context_parallel_size: 2\n"
      "  encoder_seq_length: 8192\n  max_position_embeddings: 8192\n"
      "  num_layers: 32\n  hidden_size: 4096\n  ffn_hidden_size: 14336\n"
      "  num_attention_heads: 32\n  num_query_groups: 8\n  normalization: rmsnorm\n"
      "  bias: false\n  activation: fast-swiglu\n  position_embedding_type: rope\n"
      "  share_embeddings_and_output_weights: false\n  sequence_parallel: True\n"
      "  activations_checkpoint_granularity: full\n  activations_checkpoint_method: uniform\n"
      "  activations_checkpoint_num_layers: 1\n"
      "  tokenizer: {library: huggingface, type: some/tokenizer}\n"
      "  optim: {name: mcore_distributed_optim, overlap_grad_sync: true}\n");
  EXPECT_FALSE(has_errors(plan.findings)) << plan.findings[0].detail;
  const rankwright::plan::TrainingConfig config = resolve(plan.draft);
  EXPECT_EQ(config.world, 32);
  EXPECT_EQ(config.plan.tp, 4);
  EXPECT_EQ(config.plan.cp, 2);
  EXPECT_EQ(config.plan.dp, 2);  // 32 / 4 / 2 / 2
  EXPECT_EQ(config.plan.zero, 1);
  EXPECT_EQ(config.plan.recompute, plan::Recompute::full);
  EXPECT_EQ(config.job.sequence, 8192);
  EXPECT_EQ(config.job.param_dtype, plan::Dtype::bf16);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(config.model.layer(0).attention.kv_heads, 8);
  EXPECT_FALSE(config.model.tied);
}

TEST(MegatronYaml, RecipeWithoutAModel_GivesItsDegrees) {
  const PlanFile plan = read(
      "model:\n  tensor_model_parallel_size: 2\n  pipeline_model_parallel_size: 2\n"
      "train: {global_batch_size: 32, micro_batch_size: 1}\n"
      "dataset: {sequence_length: 4096}\n");
  EXPECT_TRUE(plan.findings.empty()) << plan.findings[0].detail;
  EXPECT_EQ(plan.draft.model, std::nullopt);
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_THAT(plan.draft.sequence, Optional(4096));
  EXPECT_EQ(plan.draft.param_dtype, std::nullopt);  // recipes name it elsewhere
}

TEST(MegatronYaml, ReinforcementLearning_IsNotClaimed) {
  EXPECT_NE(read("actor_rollout_ref:\n  actor: {tensor_model_parallel_size: 2}\n").format->name,
            "megatron");
}

}  // namespace megatron_yaml_test
}  // namespace rankwright::importer
