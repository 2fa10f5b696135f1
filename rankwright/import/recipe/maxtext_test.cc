// Configs of MaxText: how they lie over each other, and settings of single versions.
#include <gmock/gmock.h>

#include <map>

#include "rankwright/import/plan/plan_format.h"
#include "rankwright/model/parameters.h"
#include "tests/support/left_out.h"

namespace rankwright::importer {
namespace maxtext_test {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

using Files = std::map<std::string, std::string>;

PlanFile read(const std::string& text, const std::string& name = "run.sh",
              const Files& files = {}) {
  return read_any_plan(text, name, [files](const std::string& path) -> Result<std::string> {
    const auto found = files.find(path);
    return found == files.end() ? refuse_file(path) : found->second;
  });
}

double count_billions(const PlanFile& plan) {
  return plan.draft.model ? double(count_parameters(*plan.draft.model).total()) / 1e9 : 0;
}

const std::string kCommand =
    "python3 -m MaxText.train MaxText/configs/base.yml ici_fsdp_parallelism=8 "
    "per_device_batch_size=2 max_target_length=4096 ";

// The script copies its config elsewhere before it runs.
TEST(Maxtext, ConfigThatTheScriptWrites_IsRead) {
  const PlanFile plan = read(
      "cat > $HOME/output/my.yml <<EOF\nbase_config: \"base.yml\"\nmodel_name: llama2-7b\n"
      "ici_fsdp_parallelism: 8\nper_device_batch_size: 2\nmax_target_length: 4096\nEOF\n"
      "python MaxText/train.py MaxText/configs/my.yml base_output_directory=output\n");
  EXPECT_FALSE(has_errors(plan.findings));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "llama-2-7b");
  EXPECT_THAT(plan.draft.micro_batch, Optional(2));
  EXPECT_THAT(plan.draft.sequence, Optional(4096));
}

// `scale` multiplies width, heads, MLP and layers (pyconfig.py of 2023): 1024 x 3 wide with 24
// layers of 4 x 3072 x 48 x 128 of attention (the width of a head stays) and 3 x 3072 x 12288, and
// 2 x 32000 x 3072 of embeddings: 4.73 B.
TEST(Maxtext, ScaleOf2023_MultipliesTheShapes) {
  const PlanFile plan = read(kCommand +
                             "base_emb_dim=1024 base_num_heads=16 base_mlp_dim=4096 "
                             "base_num_decoder_layers=8 vocab_size=32000 scale=3\n");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layers(), 24);
  EXPECT_EQ(plan.draft.model->layer(0).attention.heads, 48);
  EXPECT_EQ(plan.draft.model->layer(0).attention.head_dim, 128);
  EXPECT_NEAR(count_billions(plan), 4.73, 0.01);
}

TEST(Maxtext, BaseConfigWithoutKernels_HasUnfusedAttention) {
  const auto read_over = [](const std::string& base) {
    return read(kCommand + "model_name=llama2-7b\n", "run.sh", {{"MaxText/configs/base.yml", base}})
        .draft.attention;
  };
  EXPECT_EQ(read_over("scale: 1\n"), plan::AttentionKernel::unfused);
  EXPECT_EQ(read_over("attention: 'autoselected'\n"), std::nullopt);
  EXPECT_EQ(read(kCommand + "model_name=llama2-7b\n").draft.attention, std::nullopt);
}

TEST(Maxtext, SettingsWithoutAnEstimate_AreReported) {
  const std::pair<const char*, const char*> kSettings[] = {
      {"base_emb_dim=1024 decoder_block=gpt3", "decoder_block gpt3"},
      {"sliding_window_size=256", "sliding_window_size"},
      {"num_vocab_tiling=8", "num_vocab_tiling"},
      {"use_dpo=True", "use_dpo"},
      {"ici_tensor_transpose_parallelism=2", "tensor_transpose"},
      {"ici_sequence_parallelism=2", "sequence"},
  };
  for (const auto& [setting, text] : kSettings)
    EXPECT_THAT(read(kCommand + setting + "\n").findings, left_out(text)) << setting;
  const PlanFile known = read(kCommand + "base_emb_dim=1024 decoder_block=llama2\n");
  EXPECT_THAT(known.findings, Not(left_out("decoder_block")));
}

// Each axis of the mesh takes devices.
TEST(Maxtext, FurtherAxes_AreDegrees) {
  const PlanFile plan = read(kCommand +
                             "model_name=llama2-7b dcn_data_parallelism=1 ici_tensor_parallelism=2 "
                             "ici_tensor_transpose_parallelism=2 ici_sequence_parallelism=2\n");
  EXPECT_THAT(plan.draft.tp, Optional(4));
  EXPECT_THAT(plan.draft.cp, Optional(2));
  EXPECT_EQ(resolve(plan.draft).world, 64);
}

TEST(Maxtext, StatesOnTheHost_AreOffloaded) {
  const PlanFile plan = read(kCommand +
                             "model_name=llama2-7b optimizer_memory_host_offload=True "
                             "parameter_memory_host_offload=True\n");
  EXPECT_THAT(plan.draft.offload_optimizer, Optional(1.0));
  EXPECT_THAT(plan.draft.offload_parameters, Optional(true));
  const PlanFile off = read(kCommand + "optimizer_memory_host_offload=False\n");
  EXPECT_FALSE(off.draft.offload_optimizer.has_value());
}

// Experts drop tokens only in dense matmuls (layers/moe.py).
TEST(Maxtext, SparseMatmuls_DropNoTokens) {
  const auto capacity = [](const std::string& more) {
    return read(kCommand + "model_name=mixtral-8x7b capacity_factor=1.25 " + more + "\n")
        .draft.expert_capacity;
  };
  EXPECT_EQ(capacity("sparse_matmul=True megablox=False"), std::nullopt);
  EXPECT_EQ(capacity(""), std::nullopt);
  EXPECT_THAT(capacity("sparse_matmul=False"), Optional(1.25));
  EXPECT_THAT(capacity("megablox=False"), Optional(1.25));
}

const std::string kShapes =
    "base_emb_dim: 2048\nbase_num_query_heads: 16\nbase_num_kv_heads: 8\nbase_mlp_dim: 5632\n"
    "base_num_decoder_layers: 24\nhead_dim: 128\nvocab_size: 100000\ndecoder_block: llama2\n";

TEST(Maxtext, FileOfAModel_CountsMoreThanTheConfig) {
  const Files files = {
      {"MaxText/configs/models/my-4b.yml", kShapes},
      {"MaxText/configs/base.yml", "base_emb_dim: 512\nbase_num_decoder_layers: 2\n"}};
  const PlanFile plan = read(kCommand + "model_name=my-4b\n", "run.sh", files);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->hidden, 2048);
  EXPECT_EQ(plan.draft.model->layers(), 24);
  EXPECT_EQ(plan.draft.model->vocab, 100000);
  const PlanFile unknown = read(kCommand + "model_name=my-4b\n");
  EXPECT_FALSE(unknown.draft.model.has_value());
  EXPECT_THAT(unknown.findings, assumes("the shapes of my-4b"));
}

TEST(Maxtext, ConfigOverItsBase_IsRead) {
  const std::string text = "base_config: \"base.yml\"\nuse_sft: True\ndataset_type: hf\n";
  const PlanFile plan =
      read(text, "configs/sft.yml",
           {{"configs/base.yml", kShapes + "per_device_batch_size: 12\nattention: flash\n"}});
  EXPECT_EQ(plan.format->name, "maxtext");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layers(), 24);
  EXPECT_THAT(plan.draft.micro_batch, Optional(12));
}

// Packages of 2026 have the programs under maxtext.trainers; the layout may be that of the model's
// file alone.
TEST(Maxtext, ModuleOfTrainers_IsRead) {
  const std::string command =
      "PYTHONPATH=src python3 -m maxtext.trainers.pre_train.train src/maxtext/configs/base.yml \\\n"
      "  model_name=mine-8b run_name=a\n";
  const Files files = {
      {"src/maxtext/configs/models/mine-8b.yml",
       kShapes + "ici_expert_parallelism: 8\nici_fsdp_parallelism: 1\nper_device_batch_size: 2\n"
                 "gradient_accumulation_steps: 8\nmax_target_length: 1024\n"}};
  const PlanFile plan = read(command, "run.sh", files);
  ASSERT_EQ(plan.format->name, "maxtext");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.ep, Optional(8));
  EXPECT_THAT(plan.draft.micro_batch, Optional(2));
  EXPECT_THAT(plan.draft.sequence, Optional(1024));
}

// 16 layers of 8 x 3 x 2048 x 10240 and 4 x 2048 x 2048, and 2 x 32000 x 2048: 8.45 B.
TEST(Maxtext, ExpertsOfAFork_AreThoseOfMixtral) {
  const auto experts = [](const std::string& block) {
    return read(kCommand +
                "base_emb_dim=2048 base_num_query_heads=16 base_num_kv_heads=16 head_dim=128 "
                "base_num_decoder_layers=16 base_mlp_dim=10240 base_moe_mlp_dim=10240 "
                "num_experts=8 num_experts_per_tok=1 vocab_size=32000 decoder_block=" +
                block + "\n");
  };
  const PlanFile fork = experts("mine");
  EXPECT_NEAR(count_billions(fork), 8.45, 0.01);
  EXPECT_THAT(fork.findings, left_out("decoder_block mine: estimated as layers of Mixtral"));
  EXPECT_THAT(experts("mixtral").findings, Not(left_out("decoder_block")));
  const PlanFile other = experts("deepseek");
  EXPECT_FALSE(other.draft.model.has_value());
  EXPECT_THAT(other.findings, left_out("decoder_block deepseek"));
}

// A config of reinforcement learning lies over rl.yml, and that one over base.yml. The file of the
// model has other shapes than the catalog.
TEST(Maxtext, ConfigOverRl_IsReinforcementLearning) {
  const std::string text =
      "base_config: \"../third_party/configs/rl.yml\"\nmodel_name: qwen3-0.6b\n"
      "max_target_length: 512\n";
  const PlanFile plan =
      read(text, "configs/rl_mine.yml", {{"configs/models/qwen3-0.6b.yml", kShapes}});
  ASSERT_EQ(plan.format->name, "maxtext");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.method, Optional(plan::Method::grpo));
  EXPECT_THAT(plan.draft.ref_model, Optional(true));
  EXPECT_THAT(plan.draft.sequence, Optional(512));
  EXPECT_THAT(plan.draft.attention, Optional(plan::AttentionKernel::unfused));
  EXPECT_THAT(plan.draft.micro_batch, Optional(1));
  EXPECT_THAT(plan.findings, assumes("rl.yml"));
  EXPECT_THAT(plan.findings, left_out("generation"));
  EXPECT_THAT(plan.findings, left_out("on the GPU"));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->hidden, 2048);
  const PlanFile named = read(text, "configs/rl_mine.yml");
  ASSERT_TRUE(named.draft.model.has_value());
  EXPECT_EQ(named.draft.model->name, "qwen3-0.6b");
}

// 2 x 32000 x 2048 of embeddings; 16 layers of 4 x 2048 x 2048 and 3 x 2048 x 7168: 1.10 B.
TEST(Maxtext, WithoutAModel_TrainsThatOfItsBaseConfig) {
  const PlanFile plan = read(kCommand + "\n");
  EXPECT_NEAR(count_billions(plan), 1.10, 0.01);
  EXPECT_THAT(plan.findings, assumes("base.yml"));
  const PlanFile other = read(
      "python3 -m MaxText.train mine.yml ici_fsdp_parallelism=8 per_device_batch_size=2 "
      "max_target_length=4096\n");
  EXPECT_FALSE(other.draft.model.has_value());
}

}  // namespace maxtext_test
}  // namespace rankwright::importer
