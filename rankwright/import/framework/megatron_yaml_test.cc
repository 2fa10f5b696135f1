#include <fmt/format.h>
#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_format.h"
#include "rankwright/model/parameters.h"

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

TEST(MegatronYaml, DottedKeys_AreRead) {
  const PlanFile plan = read(
      "MODEL_ARGS:\n  trainer.num_nodes: 1\n  trainer.devices: 8\n"
      "  trainer.strategy.tensor_model_parallel_size: 2\n"
      "  trainer.strategy.context_parallel_size: 2\n  model.config.num_layers: 12\n"
      "  model.config.hidden_size: 768\n  model.config.num_attention_heads: 16\n"
      "  data.micro_batch_size: 4\n  data.global_batch_size: 64\n  data.seq_length: 2048\n");
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_THAT(plan.draft.cp, Optional(2));
  EXPECT_THAT(plan.draft.global_batch, Optional(64));
  EXPECT_EQ(resolve(plan.draft).world, 8);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layers(), 12);
}

// Lightning's -1 and "auto" are all GPUs of a node, whose number is not known.
TEST(MegatronYaml, AllDevices_LeaveTheGpusOpen) {
  for (const char* const devices : {"-1", "auto"}) {
    const PlanFile plan =
        read(fmt::format("trainer:\n  devices: {}\n  num_nodes: 4\n"
                         "model: {{tensor_model_parallel_size: 4, micro_batch_size: 1,\n"
                         "  global_batch_size: 32, encoder_seq_length: 2048}}\n",
                         devices));
    EXPECT_FALSE(has_errors(plan.findings)) << devices;
    EXPECT_EQ(plan.draft.shape, std::nullopt) << devices;
    EXPECT_THAT(plan.usual_world, Optional(32)) << devices;
  }
}

TEST(MegatronYaml, Adapters_AreRead) {
  const std::string recipe =
      "model: {tensor_model_parallel_size: 2}\ntrain: {global_batch_size: 32}\n";
  const PlanFile plan = read(recipe + "peft:\n  dim: 16\n  target_modules: [linear_qkv]\n");
  EXPECT_THAT(plan.draft.lora_rank, Optional(16));
  EXPECT_THAT(plan.draft.lora_modules,
              Optional(plan::LoraModules{true, true, true, false, false, false, false}));
  EXPECT_EQ(read(recipe).draft.lora_rank, std::nullopt);
  EXPECT_EQ(read(recipe + "peft: {peft_scheme: null, dim: 8}\n").draft.lora_rank, std::nullopt);
}

TEST(MegatronBridge, OverridesOfAScript_AreRead) {
  const PlanFile plan = read_any_plan(
      "TP=2\ntorchrun --nproc_per_node=8 run_recipe.py --recipe llama31_8b_pretrain_config \\\n"
      "  model.tensor_model_parallel_size=$TP model.pipeline_model_parallel_size=2 \\\n"
      "  train.global_batch_size=64 train.micro_batch_size=2 dataset.seq_length=4096 \\\n"
      "  model.context_parallel_size=$CP\n",
      "run.sh", refuse_file);
  EXPECT_EQ(plan.format->name, "megatron");
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_THAT(plan.draft.pp, Optional(2));
  EXPECT_THAT(plan.draft.global_batch, Optional(64));
  EXPECT_THAT(plan.draft.sequence, Optional(4096));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "llama-3.1-8b");
  ASSERT_FALSE(plan.findings.empty());
  EXPECT_EQ(plan.findings[0].hint, "--set CP=VALUE");
}

TEST(MegatronYaml, ReinforcementLearning_IsNotClaimed) {
  EXPECT_NE(read("actor_rollout_ref:\n  actor: {tensor_model_parallel_size: 2}\n").format->name,
            "megatron");
}

TEST(MegatronYaml, ReferencesAndTheTokenizer_AreRead) {
  const PlanFile plan = read(
      "trainer: {num_nodes: 16, precision: bf16}\nmodel:\n  tensor_model_parallel_size: 4\n"
      "  fp8: True\n  encoder_seq_length: 1024\n  max_position_embeddings: ${.encoder_seq_length}\n"
      "  num_layers: 44\n  hidden_size: 6144\n  num_attention_heads: 48\n"
      "  tokenizer: {library: megatron, type: GPT2BPETokenizer}\n"
      "  data: {seq_length: \"${training.model.encoder_seq_length}\"}\n");
  EXPECT_TRUE(plan.findings.empty()) << plan.findings[0].detail;
  EXPECT_THAT(plan.draft.sequence, Optional(1024));
  EXPECT_THAT(plan.draft.matmul, Optional(plan::Matmul::fp8));
  EXPECT_THAT(plan.usual_world, Optional(128));  // 8 GPUs per node, unless it says otherwise
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->vocab, 50257);
}

TEST(MegatronYaml, EncoderAndDecoder_AreNotOneModel) {
  const PlanFile plan = read(
      "model:\n  tensor_model_parallel_size: 2\n  seq_length: 512\n"
      "  encoder: {num_layers: 24, hidden_size: 2048, num_attention_heads: 32}\n"
      "  decoder: {num_layers: 24, hidden_size: 2048, num_attention_heads: 32}\n");
  EXPECT_EQ(plan.draft.model, std::nullopt);
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].code, "RW0601");
}

TEST(MsSwift, YamlHasItsDefaults) {
  const PlanFile plan = read(
      "rlhf_type: grpo\nmodel: Qwen/Qwen3-8B\nmax_length: 6120\nglobal_batch_size: 64\ntrain:\n"
      "  gpus: 4\n  tuner_type: lora\n  tensor_model_parallel_size: 2\nrollout: {gpus: 2}\n");
  EXPECT_THAT(plan.draft.sequence, Optional(6120));
  EXPECT_THAT(plan.draft.zero, Optional(1));
  EXPECT_THAT(plan.draft.lora_rank, Optional(8));
  EXPECT_EQ(resolve(plan.draft).world, 4);
}

TEST(Nemo, SchemeOfAdapters_IsRead) {
  const PlanFile plan = read_any_plan(
      "python3 main.py peft=llama/sft peft.trainer.devices=8 peft.trainer.num_nodes=1 "
      "peft.model.global_batch_size=32 peft.model.tensor_model_parallel_size=1 "
      "peft.model.peft.peft_scheme=lora peft.model.data.train_ds.max_seq_length=4096\n",
      "run.sh", refuse_file);
  EXPECT_THAT(plan.draft.lora_rank, Optional(32));
  EXPECT_THAT(plan.draft.sequence, Optional(4096));
  EXPECT_EQ(resolve(plan.draft).world, 8);
}

TEST(MegatronYaml, SeveralModels_AreNotClaimed) {
  EXPECT_NE(read("models:\n  policy_trainer: {tensor_model_parallel_size: 1}\n"
                 "  policy: {tensor_model_parallel_size: 2}\n")
                .format->name,
            "megatron");
}

TEST(MegatronBridge, RecipeOfAdapters_HasItsRank) {
  const PlanFile plan = read_any_plan(
      "torchrun run_recipe.py --recipe llama3_8b_peft_config "
      "model.tensor_model_parallel_size=1 model.pipeline_model_parallel_size=1 "
      "train.global_batch_size=64\n",
      "run.sh", refuse_file);
  EXPECT_THAT(plan.draft.lora_rank, Optional(32));
}

TEST(MegatronYaml, Teacher_IsReported) {
  const PlanFile plan =
      read("model:\n  num_layers: 4\n  tensor_model_parallel_size: 1\n  teacher_model: big\n");
  EXPECT_TRUE(std::any_of(plan.findings.begin(), plan.findings.end(), [](const Diagnostic& one) {
    return one.code == "RW0601" && one.detail.find("without its teacher") != std::string::npos;
  }));
}

TEST(MegatronYaml, HybridModels_AreLeftOpen) {
  const std::string shapes =
      "num_layers: 32\nhidden_size: 2048\nnum_attention_heads: 16\nvocab_size: 32000\n"
      "tensor_model_parallel_size: 2\nis_hybrid_model: ";
  const PlanFile plan = read(shapes + "true\n");
  EXPECT_FALSE(plan.draft.model.has_value());
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_TRUE(read(shapes + "false\n").draft.model.has_value());
}

TEST(MegatronYaml, TokenizerOfAHubsModel_HasItsVocabulary) {
  const PlanFile plan = read(
      "num_layers: 4\nhidden_size: 512\nnum_attention_heads: 8\n"
      "tensor_model_parallel_size: 1\ntokenizer_type: HuggingFaceTokenizer\n"
      "tokenizer_model: meta-llama/Llama-3.1-70B-Instruct\n");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->vocab, 128256);
}

// NeMo's `fp8` is the switch; `fp8_hybrid` and `fp8_e4m3` only choose the format.
TEST(Nemo, FormatOfFp8_IsNotItsSwitch) {
  const std::string text =
      "trainer: {num_nodes: 1, devices: 8, precision: bf16}\nmodel:\n"
      "  tensor_model_parallel_size: 2\n  micro_batch_size: 1\n  global_batch_size: 16\n"
      "  fp8_e4m3: false\n  fp8_hybrid: true\n";
  EXPECT_FALSE(read(text + "  fp8: false\n").draft.matmul.has_value());
  EXPECT_FALSE(read(text).draft.matmul.has_value());
  EXPECT_THAT(read(text + "  fp8: true\n").draft.matmul, Optional(plan::Matmul::fp8));
}

TEST(Nemo, GatedActivations_HaveTwoInputs) {
  const std::string text =
      "model:\n  tensor_model_parallel_size: 2\n  micro_batch_size: 1\n  num_layers: 2\n"
      "  hidden_size: 1024\n  ffn_hidden_size: 4096\n  num_attention_heads: 16\n"
      "  encoder_seq_length: 2048\n  bias: false\n  normalization: rmsnorm\n"
      "  position_embedding_type: rope\n  activation: ";
  const auto count = [&](const std::string& activation) {
    const PlanFile plan = read(text + activation + "\n");
    return plan.draft.model ? model::count_parameters(*plan.draft.model).total() : 0;
  };
  constexpr i64 kMatrix = 1024 * 4096;
  ASSERT_GT(count("gelu"), 0);
  for (const char* const gated :
       {"swiglu", "fast-swiglu", "geglu", "fast-geglu", "reglu", "fast-reglu"})
    EXPECT_EQ(count(gated), count("gelu") + 2 * kMatrix) << gated;  // one more in each layer
}

// NeMo's data for fine-tuning and validation are beside that for pretraining.
TEST(MegatronYaml, SequenceOfPretraining_IsNotThatOfOtherData) {
  const std::string head =
      "trainer: {devices: 8, num_nodes: 1, precision: 32}\nmodel:\n  micro_batch_size: 1\n"
      "  global_batch_size: 8\n  tensor_model_parallel_size: 1\n"
      "  pipeline_model_parallel_size: 1\n  max_position_embeddings: 512\n  num_layers: 12\n"
      "  hidden_size: 768\n  num_attention_heads: 12\n  data:\n";
  const PlanFile plan = read(head +
                             "    data_prefix: a\n    seq_length: 512\n"
                             "    train_ds: {max_seq_length: 4096}\n"
                             "    validation_ds: {max_seq_length: 4096}\n");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.sequence, Optional(512));
  EXPECT_THAT(plan.draft.param_dtype, Optional(plan::Dtype::fp32));
  const PlanFile tuned = read(head +
                              "    train_ds: {max_seq_length: 256}\n"
                              "    validation_ds: {max_seq_length: 4096}\n");
  EXPECT_THAT(tuned.draft.sequence, Optional(256));
}

TEST(MegatronYaml, OverridesOfMegatronBridge_LeaveZeroOpen) {
  const std::string text =
      "model: {seq_length: 4096, tensor_model_parallel_size: 1, pipeline_model_parallel_size: 1}\n"
      "train: {global_batch_size: 8, micro_batch_size: 4}\n";
  const PlanFile open = read(text + "ddp: {grad_reduce_in_fp32: true}\n");
  EXPECT_THAT(open.draft.zero, Optional(1));
  EXPECT_FALSE(open.open.empty());
  EXPECT_THAT(read(text + "ddp: {use_distributed_optimizer: false}\n").draft.zero, Optional(0));
}

TEST(MegatronYaml, OverridesOfMegatronBridgeWithoutDegrees_AreRead) {
  const PlanFile plan = read(
      "model: {seq_length: 4096}\ntrain: {global_batch_size: 32, micro_batch_size: 1}\n"
      "ddp: {grad_reduce_in_fp32: true}\n");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.global_batch, Optional(32));
  EXPECT_THAT(plan.draft.sequence, Optional(4096));
}

const std::string kNemo =
    "trainer: {num_nodes: 1, devices: 8, precision: bf16}\nmodel:\n  micro_batch_size: 1\n"
    "  global_batch_size: 64\n  tensor_model_parallel_size: 2\n"
    "  pipeline_model_parallel_size: 4\n  encoder_seq_length: 2048\n  num_layers: 32\n"
    "  hidden_size: 4096\n  num_attention_heads: 32\n";

TEST(MegatronYaml, BlockOfNoLayers_IsNoRecomputation) {
  const std::string text = kNemo +
                           "  activations_checkpoint_granularity: selective\n"
                           "  activations_checkpoint_method: block\n"
                           "  activations_checkpoint_num_layers: ";
  EXPECT_THAT(read(text + "0\n").draft.recompute, Optional(plan::Recompute::none));
  EXPECT_THAT(read(text + "1\n").draft.recompute, Optional(plan::Recompute::selective));
  // Layers of megatron-core recompute the attention of all of them.
  EXPECT_THAT(read(text + "0\n  mcore_gpt: true\n").draft.recompute,
              Optional(plan::Recompute::selective));
}

TEST(MegatronYaml, OtherAdaptersOfNemo_AreRefused) {
  EXPECT_TRUE(has_errors(read(kNemo + "  virtual_prompt_style: no-prompts\n").findings));
}

// NeMo adapts queries, keys and values unless told otherwise.
TEST(NemoScript, AdaptersHaveNemosDefaults) {
  const auto adapters = [](const std::string& overrides) {
    const PlanFile plan = read_any_plan(
        "python megatron_gpt_finetuning.py model.tensor_model_parallel_size=2 "
        "model.pipeline_model_parallel_size=1 model.micro_batch_size=1 " +
            overrides + " model.restore_from_path=/data/llama3-70b.nemo\n",
        "run.sh", refuse_file);
    EXPECT_EQ(plan.draft.model ? plan.draft.model->name : "", "llama-3-70b");
    const plan::Job job = resolve(plan.draft).job;
    return std::to_string(job.lora_rank) + " " + show(job.lora_modules, " ");
  };
  EXPECT_EQ(adapters("model.peft.peft_scheme=lora"), "32 q_proj k_proj v_proj");
  const std::string stated =
      "model.peft.lora_tuning.target_modules=[attention_dense,mlp] "
      "model.peft.lora_tuning.adapter_dim=8";
  EXPECT_EQ(adapters("model.peft.peft_scheme=lora " + stated),
            "8 o_proj gate_proj up_proj down_proj");
  EXPECT_EQ(adapters(stated + " model.peft.peft_scheme=lora"),
            "8 o_proj gate_proj up_proj down_proj");
}

TEST(BridgeYaml, NameOfAHubsModel_AndItsSections) {
  const PlanFile plan = read(
      "dataset: {seq_length: 1024}\nmodel:\n  hf_model_id: Qwen/Qwen3-8B\n"
      "  tensor_model_parallel_size: 2\ntrain: {train_iters: 10, micro_batch_size: 1, "
      "global_batch_size: 8}\nscheduler: {lr_warmup_iters: 2}\n");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen3-8b");
  EXPECT_THAT(plan.draft.zero, Optional(1));  // its distributed optimizer is on by default
}

// Names of neuronx-nemo-megatron. Weights of a run in fp32 are in fp32 whatever megatron_amp_O2 is.
TEST(NemoYaml, ReadsTheNamesOfNeuron) {
  const PlanFile plan = read_any_plan(
      "trainer:\n  precision: 32\n  devices: 32\n  num_nodes: 2\nmodel:\n"
      "  megatron_amp_O2: False\n  micro_batch_size: 1\n  global_batch_size: 32\n"
      "  tensor_model_parallel_size: 8\n  pipeline_model_parallel_size: 8\n"
      "  encoder_seq_length: 2048\n  hidden_size: 4096\n  ffn_hidden_size: 14336\n"
      "  num_layers: 32\n  num_attention_heads: 32\n  num_kv_heads: 8\n  has_bias: False\n"
      "  activation: swiglu\n  num_moe_experts: 8\n  num_experts_per_tok: 1\n",
      "conf.yaml", refuse_file);
  ASSERT_TRUE(plan.draft.model.has_value());
  const model::Layer& layer = plan.draft.model->layer(0);
  EXPECT_EQ(layer.attention.kv_heads, 8);
  EXPECT_FALSE(layer.attention.qkv_bias);
  EXPECT_EQ(layer.ffn.active, 1);
  for (const Diagnostic& found : plan.findings) EXPECT_NE(found.code, "RW0601") << found.detail;
}

}  // namespace megatron_yaml_test
}  // namespace rankwright::importer
