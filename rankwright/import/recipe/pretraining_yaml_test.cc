// llm-foundry's models of transformers with another config, and older names of MaxText.
#include <gmock/gmock.h>

#include <algorithm>

#include "rankwright/import/plan/plan_format.h"
#include "rankwright/model/parameters.h"
#include "tests/support/left_out.h"

namespace rankwright::importer {
namespace pretraining_yaml_test {

using ::testing::Not;
using ::testing::Optional;

/// A file of llm-foundry with these settings of the model, and further ones.
PlanFile foundry(const std::string& model, const std::string& more = "") {
  return read_any_plan(
      "max_seq_len: 1024\nglobal_train_batch_size: 64\ndevice_train_microbatch_size: 4\n"
      "precision: amp_bf16\nmodel:\n  name: hf_causal_lm\n" +
          model + more,
      "run.yaml", refuse_file);
}

const std::string kOverrides =
    "  config_overrides:\n    hidden_size: 512\n    num_hidden_layers: 4\n"
    "    num_attention_heads: 8\n    num_key_value_heads: 2\n    intermediate_size: 1536\n"
    "    vocab_size: 32000\n    sliding_window: 1024\n";

TEST(LlmFoundry, OverridesOfAConfig_ChangeTheModel) {
  const PlanFile plan =
      foundry("  pretrained_model_name_or_path: mistralai/Mistral-7B-v0.1\n" + kOverrides);
  EXPECT_FALSE(has_errors(plan.findings)) << plan.findings[0].detail;
  ASSERT_TRUE(plan.draft.model.has_value());
  const model::Model& model = *plan.draft.model;
  EXPECT_EQ(model.hidden, 512);
  EXPECT_EQ(model.layers(), 4);
  EXPECT_EQ(model.vocab, 32000);
  EXPECT_EQ(model.layer(0).attention.kv_heads, 2);
  EXPECT_EQ(model.layer(0).attention.head_dim, 64);
  EXPECT_EQ(model.layer(0).ffn.width, 1536);
  const PlanFile unknown = foundry("  pretrained_model_name_or_path: my/model\n" + kOverrides);
  EXPECT_FALSE(unknown.draft.model.has_value());
  EXPECT_THAT(unknown.findings, left_out("changes a model"));
}

TEST(LlmFoundry, AttentionOfATransformersModel) {
  const std::string llama = "  pretrained_model_name_or_path: meta-llama/Llama-3.1-8B\n";
  const std::string mpt = "  pretrained_model_name_or_path: mosaicml/mpt-7b\n";
  EXPECT_THAT(foundry(llama + "  use_flash_attention_2: true\n").draft.attention,
              Optional(plan::AttentionKernel::flash2));
  EXPECT_THAT(foundry(llama).draft.attention, Optional(plan::AttentionKernel::unfused));
  EXPECT_EQ(foundry(mpt).draft.attention, std::nullopt);
  EXPECT_THAT(foundry(mpt + "  config_overrides:\n    attn_config:\n      attn_impl: torch\n")
                  .draft.attention,
              Optional(plan::AttentionKernel::unfused));
}

TEST(LlmFoundry, ParametersInFp32_AndAlgorithms_AreReported) {
  const std::string llama = "  pretrained_model_name_or_path: meta-llama/Llama-3.1-8B\n";
  const PlanFile plan = foundry(llama,
                                "fsdp_config: {sharding_strategy: FULL_SHARD, mixed_precision: "
                                "FULL}\nalgorithms:\n  gradient_clipping: {}\n  masks: {t: 1}\n");
  EXPECT_THAT(plan.findings, left_out("mixed_precision FULL"));
  EXPECT_THAT(plan.findings, left_out("algorithms.masks"));
  EXPECT_THAT(plan.findings, Not(left_out("gradient_clipping")));
  EXPECT_THAT(foundry(llama, "fsdp_config: {mixed_precision: PURE}\n").findings,
              Not(left_out("mixed_precision")));
}

// Until the end of 2023, queries and keys had one number of heads.
TEST(Maxtext, OlderNameOfHeads_IsRead) {
  const PlanFile plan = read_any_plan(
      "python3 MaxText/train.py base.yml base_emb_dim=1024 base_num_heads=16 base_mlp_dim=4096 "
      "base_num_decoder_layers=8 head_dim=64 per_device_batch_size=1 max_target_length=512\n",
      "run.sh", [](const std::string& path) -> Result<std::string> {
        if (path != "base.yml") return refuse_file(path);
        return "base_num_query_heads: 8\nbase_num_kv_heads: 8\n";
      });
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layer(0).attention.heads, 16);
  EXPECT_EQ(plan.draft.model->layer(0).attention.kv_heads, 16);
}

// base.yml states the length, and the width of a head whatever the other shapes are.
TEST(Maxtext, WithoutItsBaseConfig_HasItsDefaults) {
  const std::string shapes =
      "python3 -m MaxText.train MaxText/configs/base.yml base_emb_dim=4096 base_mlp_dim=8192 "
      "base_num_query_heads=16 base_num_kv_heads=16 base_num_decoder_layers=4 "
      "per_device_batch_size=2 ";
  const PlanFile plan = read_any_plan(shapes + "\n", "run.sh", refuse_file);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layer(0).attention.head_dim, 128);
  EXPECT_THAT(plan.draft.sequence, Optional(2048));
  const PlanFile open =
      read_any_plan(shapes + "max_target_length=$LENGTH\n", "run.sh", refuse_file);
  EXPECT_EQ(open.draft.sequence, std::nullopt);
}

TEST(Maxtext, TrainersBesidePretraining_AreRead_AndConversionsAreNot) {
  const PlanFile plan = read_any_plan(
      "python3 -m MaxText.utils.ckpt_conversion.to_maxtext base.yml model_name=llama2-7b "
      "scan_layers=True hardware=cpu base_output_directory=a\n"
      "python3 -m MaxText.sft.sft_trainer sft.yml model_name=llama3.1-8b "
      "per_device_batch_size=2 max_target_length=512 weight_dtype=bfloat16\n",
      "run.sh", refuse_file);
  EXPECT_EQ(plan.format->name, "maxtext");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "llama-3.1-8b");
  EXPECT_THAT(plan.draft.sequence, Optional(512));
  EXPECT_THAT(plan.draft.micro_batch, Optional(2));
}

TEST(Maxtext, Distillation_TrainsTheStudent) {
  const PlanFile plan = read_any_plan(
      "base_config: base.yml\nmax_target_length: 1024\nper_device_batch_size: 1\n"
      "student_overrides: {model_name: qwen3-8b}\nteacher_overrides: {model_name: qwen3-32b}\n",
      "kd.yml", refuse_file);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen3-8b");
  EXPECT_THAT(plan.findings, left_out("without its teacher"));
}

TEST(LlmFoundry, MptLearnsPositions_UnlessToldOtherwise) {
  const auto positions = [](const std::string& more) {
    const PlanFile plan = read_any_plan(
        "max_seq_len: 1024\nglobal_train_batch_size: 64\ndevice_train_microbatch_size: 4\n"
        "model:\n  name: mpt_causal_lm\n  d_model: 512\n  n_heads: 8\n  n_layers: 4\n"
        "  vocab_size: 50368\n" +
            more,
        "run.yaml", refuse_file);
    EXPECT_FALSE(has_errors(plan.findings));
    return plan.draft.model ? plan.draft.model->positions : -1;
  };
  EXPECT_EQ(positions(""), 1024);
  EXPECT_EQ(positions("  max_seq_len: 256\n"), 256);
  EXPECT_EQ(positions("  learned_pos_emb: false\n"), 0);
  EXPECT_EQ(positions("  attn_config: {alibi: true}\n"), 0);
}

TEST(LlmFoundry, ExpertsOfMpt_AreReported) {
  EXPECT_THAT(foundry("  d_model: 512\n  n_heads: 8\n  n_layers: 4\n  ffn_config:\n"
                      "    ffn_type: mb_dmoe\n    moe_num_experts: 8\n")
                  .findings,
              left_out("8 experts"));
}

// Composer's script changes to the folder of the config, here by the path in a container.
TEST(LlmFoundry, LaunchScript_ReadsTheConfigBelowItsFolder) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (path != "scripts/train/yamls/small.yaml") return refuse_file(path);
    return "max_seq_len: 2048\nglobal_train_batch_size: 64\ndevice_train_microbatch_size: 4\n"
           "model:\n  name: mpt_causal_lm\n  d_model: 768\n  n_heads: 12\n  n_layers: 12\n"
           "  max_seq_len: ${max_seq_len}\nprecision: amp_bf16\n"
           "fsdp_config: {sharding_strategy: FULL_SHARD}\n";
  };
  const std::string text =
      "#!/bin/bash\ncd /project/scripts/train\ncomposer -n 4 train.py yamls/small.yaml \\\n"
      "  train_loader.dataset.split=a max_seq_len=1024 fsdp_config.sharding_strategy=NO_SHARD\n";
  const PlanFile plan = read_any_plan(text, "train.sh", files);
  EXPECT_EQ(plan.format->name, "llm-foundry");
  EXPECT_FALSE(has_errors(plan.findings));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layers(), 12);
  EXPECT_EQ(plan.draft.model->positions, 1024);
  EXPECT_THAT(plan.draft.sequence, Optional(1024));
  EXPECT_THAT(plan.draft.micro_batch, Optional(4));
  EXPECT_THAT(plan.draft.zero, Optional(0));
  EXPECT_EQ(resolve(plan.draft).world, 4);
  const PlanFile none = read_any_plan(text, "train.sh", refuse_file);
  ASSERT_TRUE(has_errors(none.findings));
  EXPECT_EQ(none.findings.front().detail, "they are in yamls/small.yaml, which cannot be read");
}

TEST(MaxText, OverridesOfANamedModel_ChangeItsLayers) {
  const auto script = [](const std::string& settings) {
    return read_any_plan(
        "python3 -m MaxText.train base.yml model_name=llama3.3-70b "
        "per_device_batch_size=1 " +
            settings + "\n",
        "run.sh", refuse_file);
  };
  const PlanFile short_model = script("override_model_config=True base_num_decoder_layers=2");
  ASSERT_TRUE(short_model.draft.model.has_value());
  EXPECT_EQ(short_model.draft.model->layers(), 2);
  EXPECT_EQ(script("base_num_decoder_layers=2").draft.model->layers(), 80);  // refused by MaxText
  EXPECT_THAT(script("override_model_config=True base_mlp_dim=64").findings,
              left_out("base_mlp_dim"));
  EXPECT_THAT(script("remat_policy=qkv_proj_offloaded").findings, left_out("on the GPU"));
  EXPECT_THAT(script("attention=dot_product").draft.attention,
              ::testing::Optional(plan::AttentionKernel::unfused));
}

// 13 experts of 2 x 1024 x 4096 in each of 24 layers, 24 x 4 x 1024 x 1024 of attention and 50,304
// x 1024 of tied embeddings: 2.62 + 0.10 + 0.05 B.
TEST(GptNeox, Experts_AreInEveryLayerOfTheInterval) {
  const std::string text =
      "{\"pipe_parallel_size\": 0, \"model_parallel_size\": 1, \"num_layers\": 24,\n"
      "\"hidden_size\": 1024, \"num_attention_heads\": 16, \"intermediate_size\": 4096,\n"
      "\"seq_length\": 2048, \"pos_emb\": \"rotary\", \"train_micro_batch_size_per_gpu\": 4,\n"
      "\"moe_num_experts\": 13, \"moe_top_k\": 1, \"moe_expert_interval\": ";
  const PlanFile plan = read_any_plan(text + "1}\n", "moe.yml", refuse_file);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_NEAR(double(count_parameters(*plan.draft.model).total()), 2.77e9, 0.01e9);
  EXPECT_EQ(plan.draft.model->layer(0).ffn.active, 1);
  const PlanFile second = read_any_plan(text + "2}\n", "moe.yml", refuse_file);
  ASSERT_TRUE(second.draft.model.has_value());
  EXPECT_FALSE(second.draft.model->layer(0).ffn.sparse());
  EXPECT_TRUE(second.draft.model->layer(1).ffn.sparse());
}

// The keys of a fork may change the model, and those of a curriculum the length of the first steps.
TEST(GptNeox, KeysWithoutAnEstimate_AreNamed) {
  const auto read = [](const std::string& more) {
    return read_any_plan(
        "{\"pipe_parallel_size\": 1, \"model-parallel-size\": 1, \"num-layers\": 12,\n"
        "\"hidden-size\": 768, \"num-attention-heads\": 12, \"seq-length\": 2048,\n"
        "\"optimizer\": {\"type\": \"Adam\", \"params\": {\"lr\": 0.1}}, \"lr-decay-iters\": 9,\n"
        "\"train_micro_batch_size_per_gpu\": 4" +
            more + "}\n",
        "a.yml", refuse_file);
  };
  const PlanFile plain = read("");
  EXPECT_EQ(plain.unknown_keys, 0u);
  const PlanFile fork = read(", \"use_gru\": true, \"gru-width\": 768");
  EXPECT_TRUE(std::any_of(fork.findings.begin(), fork.findings.end(), [](const auto& one) {
    return one.code == "RW0618" && one.detail == "use_gru, gru_width";
  }));
  const std::string curriculum = ", \"curriculum_learning\": {\"curriculum_type\": \"seqlen\", ";
  EXPECT_THAT(read(curriculum + "\"enabled\": true}").findings, left_out("longest"));
  EXPECT_THAT(read(curriculum + "\"enabled\": false}").findings,
              ::testing::Not(left_out("longest")));
}

// deepy.py merges the configs of its command, here of a folder.
TEST(GptNeox, LaunchScript_MergesTheConfigsThatItNames) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (path == "configs/small.yml")
      return "{\"pipe-parallel-size\": 1, \"model-parallel-size\": 2, \"num-layers\": 12,\n"
             "\"hidden-size\": 768, \"num-attention-heads\": 12, \"seq-length\": 2048,\n"
             "\"train_micro_batch_size_per_gpu\": 4, \"fp16\": {\"enabled\": true}}\n";
    if (path == "configs/setup.yml") return "{\"zero_optimization\": {\"stage\": 1}}\n";
    return refuse_file(path);
  };
  const std::string text =
      "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gres=gpu:a100:4\n. ~/.bash_profile\n"
      "python ./deepy.py train.py -d configs small setup.yml";
  const PlanFile plan = read_any_plan(text + "\n", "run.sh", files);
  EXPECT_EQ(plan.format->name, "gpt-neox");
  EXPECT_FALSE(has_errors(plan.findings));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layers(), 12);
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_THAT(plan.draft.zero, Optional(1));
  EXPECT_EQ(resolve(plan.draft).world, 8);
  const PlanFile missing = read_any_plan(text + " other.yml\n", "run.sh", files);
  EXPECT_TRUE(std::any_of(missing.findings.begin(), missing.findings.end(), [](const auto& one) {
    return one.code == "RW0615" && one.detail.find("configs/other.yml") != std::string::npos;
  }));
  const PlanFile none = read_any_plan(text + "\n", "run.sh", refuse_file);
  EXPECT_TRUE(has_errors(none.findings));
}

TEST(GptNeox, MlpOfLlama_StatesTheWidthOfOneMatrix) {
  const auto layer = [](const std::string& more) {
    const PlanFile plan = read_any_plan(
        "{\"num-layers\": 6, \"hidden-size\": 2816, \"num-attention-heads\": 22, "
        "\"train_micro_batch_size_per_gpu\": 8" +
            more + "}",
        "a.yml", refuse_file);
    return plan.draft.model.value().layer(0).ffn.width;
  };
  EXPECT_EQ(layer(", \"intermediate-size\": 7680, \"mlp_type\": \"llama\""), 7680);
  EXPECT_EQ(layer(", \"intermediate-size\": 7680, \"activation\": \"swiglu\""), 2560);
  EXPECT_EQ(layer(""), 4 * 2816);
}

TEST(LlmFoundry, DefaultsOfMpt_AndShardsOfANode) {
  const auto read = [](const std::string& more) {
    return read_any_plan(
        "max_seq_len: 512\nglobal_train_batch_size: 1\n"
        "device_train_microbatch_size: 4\nmodel:\n  name: mpt_causal_lm\n" +
            more,
        "a.yaml", refuse_file);
  };
  const PlanFile plan = read("fsdp_config: {sharding_strategy: HYBRID_SHARD}\n");
  EXPECT_EQ(plan.draft.model.value().hidden, 2048);  // MPTConfig
  EXPECT_EQ(plan.draft.model.value().layers(), 24);
  EXPECT_THAT(plan.draft.micro_batch, ::testing::Optional(1));  // no more than the batch
  EXPECT_THAT(plan.findings, left_out("HYBRID_SHARD"));
  EXPECT_THAT(read("  attn_config: {attn_type: native_sparse_attention}\n").findings,
              left_out("native_sparse_attention"));
}

TEST(GptNeox, DegreeOfZero_IsOne) {
  const PlanFile plan = read_any_plan(
      "{\"pipe_parallel_size\": 0, \"model_parallel_size\": 0, \"num_layers\": 4, "
      "\"hidden_size\": 256, \"num_attention_heads\": 4, \"seq_length\": 128, "
      "\"train_micro_batch_size_per_gpu\": 2}\n",
      "a.json", refuse_file);
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.tp, Optional(1));
  EXPECT_THAT(plan.draft.pp, Optional(1));
}

TEST(LlmFoundry, GpusOfOlderJobs_AreRead) {
  const PlanFile plan = read_any_plan(
      "gpu_num: 64\ngpu_type: a100_40gb\nparameters:\n  max_seq_len: 2048\n"
      "  global_train_batch_size: 512\n  device_train_microbatch_size: 8\n"
      "  model: {name: mpt_causal_lm, d_model: 512, n_heads: 8, n_layers: 4, vocab_size: 50368, "
      "attn_config: {attn_type: sparse_of_mine}, of_mine: 1}\n",
      "job.yaml", refuse_file);
  EXPECT_THAT(plan.draft.world, Optional(64));
  EXPECT_THAT(plan.findings,
              ::testing::Contains(::testing::AllOf(
                  ::testing::Field(&Diagnostic::code, "RW0618"),
                  ::testing::Field(&Diagnostic::detail, ::testing::HasSubstr("model.of_mine")))));
}

TEST(GptNeox, RanksOfOneHost_AreRead) {
  const PlanFile plan = read_any_plan(
      "{\"num_gpus\": 2, \"hostfile\": \"/mock_path\", \"pipe_parallel_size\": 1, "
      "\"num_layers\": 4, \"hidden_size\": 256, \"num_attention_heads\": 4, "
      "\"train_micro_batch_size_per_gpu\": 2}\n",
      "a.json", refuse_file);
  EXPECT_EQ(resolve(plan.draft).world, 2);
}

}  // namespace pretraining_yaml_test
}  // namespace rankwright::importer
