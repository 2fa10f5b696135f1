// Scripts of MindSpeed-LLM, Pai-Megatron-Patch and Primus, and of models with layers of Mamba.
#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_format.h"
#include "rankwright/model/parameters.h"

namespace rankwright::importer {
namespace megatron_variants_test {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Optional;

PlanFile read(const std::string& text, const std::string& name,
              const FileReader& files = refuse_file) {
  return read_any_plan(text, name, files);
}

const std::string kShapes =
    "--num-layers 40 --hidden-size 5120 --num-attention-heads 40 --seq-length 2048 "
    "--micro-batch-size 1 --global-batch-size 256 --bf16 ";

// Gemma 2 9B: 256,000 x 3,584 of the embedding; 42 layers of 2 x 3584 x (16 + 8) x 256 of attention
// and 3 x 3584 x 14336 of the MLP, which --gelu-tanh gates. 9.24 B in all.
TEST(MindSpeed, GatedActivations_HaveThreeMatrices) {
  const std::string text =
      "torchrun pretrain_gpt.py --tensor-model-parallel-size 8 --num-layers 42 --hidden-size 3584 "
      "--ffn-hidden-size 14336 --num-attention-heads 16 --group-query-attention "
      "--num-query-groups 8 --kv-channels 256 --seq-length 8192 --micro-batch-size 1 --bf16 "
      "--vocab-size 256000 --disable-bias-linear --normalization RMSNorm "
      "--use-rotary-position-embeddings --reuse-fp32-param ";
  for (const char* const flag : {"--gelu-tanh", "--geglu"}) {
    const PlanFile plan = read(text + flag + "\n", "run.sh");
    ASSERT_TRUE(plan.draft.model.has_value());
    EXPECT_EQ(plan.draft.model->layer(0).ffn.matrices, 3) << flag;
    EXPECT_NEAR(double(count_parameters(*plan.draft.model).total()), 9.24e9, 0.01e9);
  }
}

// Its PPO has a batch of rollouts, as slime's scripts have.
TEST(MindSpeed, OwnNames_AreMarks_AlsoBesideThoseOfSlime) {
  const PlanFile plan = read("torchrun posttrain_gpt.py " + kShapes +
                                 "--tensor-model-parallel-size 1 --stage trl_ppo "
                                 "--rollout-batch-size 2 --lora-r 4 --lora-target-modules "
                                 "linear_qkv\n",
                             "run.sh");
  EXPECT_THAT(plan.draft.lora_rank, Optional(4));
  const PlanFile experts = read("torchrun pretrain_gpt.py " + kShapes +
                                    "--tensor-model-parallel-size 1 --num-experts 8 "
                                    "--n-shared-experts 2 --moe-intermediate-size 64\n",
                                "run.sh");
  ASSERT_TRUE(experts.draft.model.has_value());
  EXPECT_EQ(experts.draft.model->layer(0).ffn.expert_width, 64);
}

// Layers of Mamba are the part of the layers that the ratios leave, or those of the specification.
TEST(MegatronMamba, HybridLayers_AreNotEstimatedFromFlags) {
  for (const char* const flag :
       {"--hybrid-attention-ratio 0.08", "--hybrid-mlp-ratio 0.5",
        "--spec megatron.core.models.mamba.mamba_layer_specs mamba_stack_spec"}) {
    const PlanFile plan = read(
        "torchrun pretrain_mamba.py " + kShapes + "--tensor-model-parallel-size 1 " + flag + "\n",
        "run.sh");
    EXPECT_FALSE(plan.draft.model.has_value()) << flag;
    EXPECT_THAT(plan.findings, Contains(AllOf(Field(&Diagnostic::code, "RW0601"),
                                              Field(&Diagnostic::detail, HasSubstr("Mamba")))));
  }
}

// Without --extra-vocab-size, the rows are those of the tokenizer.
TEST(PaiMegatronPatch, NameOfTheTokenizer_StatesTheVocabulary) {
  const PlanFile plan = read("torchrun pretrain_gpt.py " + kShapes +
                                 "--tensor-model-parallel-size 1 --num-experts 8 "
                                 "--patch-tokenizer-type MistralTokenizer\n",
                             "run.sh");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->vocab, 32000);
}

TEST(Primus, FileThatAModelExtends_IsReportedIfItIsMissing) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (path == "a/b/../../primus/configs/models/megatron/small.yaml")
      return "bases:\n  - base.yaml\nnum_layers: 8\nhidden_size: 512\n";
    return refuse_file(path);
  };
  const PlanFile plan = read(
      "modules:\n  pre_trainer:\n    framework: megatron\n    model: small.yaml\n"
      "    overrides:\n      seq_length: 4096\n      micro_batch_size: 1\n",
      "a/b/run.yaml", files);
  EXPECT_THAT(plan.findings, Contains(AllOf(Field(&Diagnostic::code, "RW0615"),
                                            Field(&Diagnostic::detail, HasSubstr("base.yaml")))));
}

}  // namespace megatron_variants_test
}  // namespace rankwright::importer
