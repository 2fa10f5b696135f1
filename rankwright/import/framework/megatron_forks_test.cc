#include "rankwright/import/framework/megatron_forks.h"

#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_format.h"
#include "tests/support/left_out.h"

namespace rankwright::importer {
namespace megatron_forks_test {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

PlanFile read(std::string text, std::string name, const FileReader& files = refuse_file) {
  return read_any_plan(std::move(text), std::move(name), files);
}

const std::string kShapes =
    "--num-layers 40 --hidden-size 5120 --num-attention-heads 40 --seq-length 2048 "
    "--micro-batch-size 1 --global-batch-size 256 --bf16 ";

TEST(MegatronDeepSpeed, ReadsItsStage_AndIsJudgedAsDeepSpeed) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (path != "run/ds.json") return refuse_file(path);
    return "{\"zero_optimization\": {\"stage\": 1}}";
  };
  const std::string script = "deepspeed pretrain_gpt.py " + kShapes +
                             "--tensor-model-parallel-size 2 --pad-vocab-size-to 250880 ";
  const PlanFile flags = read(script + "--zero-stage 2 --no-pipeline-parallel\n", "run/a.sh");
  EXPECT_THAT(flags.draft.zero, Optional(2));
  EXPECT_THAT(flags.draft.target, Optional(rules::Target::deepspeed));
  ASSERT_TRUE(flags.draft.model.has_value());
  EXPECT_EQ(flags.draft.model->vocab, 250880);
  EXPECT_FALSE(has_errors(flags.findings));
  const PlanFile config = read(script + "--deepspeed_config ds.json\n", "run/a.sh", files);
  EXPECT_THAT(config.draft.zero, Optional(1));
  const PlanFile written =
      read("cat <<EOT > ds.json\n{\"zero_optimization\": {\"stage\": 3}}\nEOT\n" + script +
               "--deepspeed_config ds.json\n",
           "run/a.sh");
  EXPECT_THAT(written.draft.zero, Optional(3));
}

// The stage is in the config: one whose path is unknown leaves it open, unless the script writes
// it.
TEST(MegatronDeepSpeed, ConfigOfUnknownPath_IsReported) {
  const std::string script =
      "deepspeed pretrain_gpt.py " + kShapes + "--deepspeed --deepspeed_config $1\n";
  const PlanFile plan = read(script, "a.sh");
  EXPECT_THAT(plan.findings,
              Contains(AllOf(Field(&Diagnostic::code, "RW0614"),
                             Field(&Diagnostic::detail, HasSubstr("--deepspeed-c")))));
  const PlanFile written =
      read("cat <<EOT > $1\n{\"zero_optimization\": {\"stage\": 3}}\nEOT\n" + script, "a.sh");
  EXPECT_THAT(written.draft.zero, Optional(3));
  EXPECT_THAT(written.findings, Not(Contains(Field(&Diagnostic::code, "RW0614"))));
}

TEST(MegatronDeepSpeed, SavedActivationsOfAllTpRanks_AreReportedUnderEveryName) {
  for (const std::string flag : {"--distribute-saved-activations ", "--partition-activations ",
                                 "--distribute-checkpointed-activations "})
    EXPECT_THAT(
        read("deepspeed pretrain_gpt.py " + kShapes + flag + "--zero-stage 1\n", "a.sh").findings,
        left_out("activations: times and memory"));
}

// A tokenizer of this type is also MindSpeed's, which has no such flags.
TEST(MegatronDeepSpeed, IsRecognizedByItsFlags_WithEveryTokenizer) {
  const PlanFile plan = read("deepspeed pretrain_gpt.py " + kShapes +
                                 "--tokenizer-type PretrainedFromHF --pad-vocab-size-to 32128 "
                                 "--deepspeed --zero-stage 2\n",
                             "a.sh");
  EXPECT_THAT(plan.draft.target, Optional(rules::Target::deepspeed));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->vocab, 32128);
  EXPECT_EQ(spell_edits(*plan.format, {{"parallelism.zero_stage", "1"}}, plan.spell),
            "--zero-stage 1");
}

TEST(MegatronDeepSpeed, ProgramForLlama_HasItsLayers) {
  const auto layer = [](const std::string& program, const std::string& flags) {
    const PlanFile plan =
        read("deepspeed tools/" + program + " " + kShapes +
                 "--ffn-hidden-size 13824 --pad-vocab-size-to 32000 --zero-stage 1 " + flags + "\n",
             "a.sh");
    EXPECT_TRUE(plan.draft.model.has_value());
    return plan.draft.model->layer(0);
  };
  const model::Layer llama = layer("pretrain_llama.py", "");
  EXPECT_EQ(llama.ffn.matrices, 3);
  EXPECT_FALSE(llama.ffn.bias);
  EXPECT_EQ(layer("pretrain_gpt.py", "").ffn.matrices, 2);
  EXPECT_EQ(layer("pretrain_llama.py", "--normalization LayerNorm").ffn.matrices, 2);
}

TEST(Swift, HasItsOwnDefaults_AndSwitchesWithValues) {
  const PlanFile plan = read(
      "NPROC_PER_NODE=4 \\\nmegatron sft \\\n    --model Qwen/Qwen2.5-7B-Instruct \\\n"
      "    --tensor_model_parallel_size 2 \\\n    --sequence_parallel false \\\n"
      "    --use_distributed_optimizer false \\\n    --recompute_granularity none \\\n"
      "    --max_length 4096\n",
      "sft.sh");
  EXPECT_FALSE(has_errors(plan.findings));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen2.5-7b");
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_THAT(plan.draft.sequence_parallel, Optional(false));
  EXPECT_THAT(plan.draft.zero, Optional(0));
  EXPECT_THAT(plan.draft.recompute, Optional(plan::Recompute::none));
  EXPECT_THAT(plan.draft.sequence, Optional(4096));
  EXPECT_THAT(plan.draft.global_batch, Optional(16));
  EXPECT_THAT(plan.draft.param_dtype, Optional(plan::Dtype::bf16));
}

TEST(Slime, ReadsTheActor) {
  const PlanFile plan = read(
      "ray job submit -- python3 train.py --actor-num-nodes 2 --actor-num-gpus-per-node 8 "
      "--hf-checkpoint /root/Qwen3-4B --rollout-batch-size 32 --rollout-max-response-len 8192 "
      "--global-batch-size 256 --tensor-model-parallel-size 2 --sequence-parallel "
      "--use-dynamic-batch-size --max-tokens-per-gpu 16384\n",
      "run.sh");
  EXPECT_FALSE(has_errors(plan.findings));
  const plan::TrainingConfig config = resolve(plan.draft);
  EXPECT_EQ(config.world, 16);
  EXPECT_EQ(config.model.name, "qwen3-4b");
  EXPECT_EQ(config.job.sequence, 8192);
  EXPECT_EQ(config.plan.micro_batch, 2);
  EXPECT_EQ(config.plan.zero, 1);
}

TEST(Primus, ReadsOverrides_AndDefaultsOfVariables) {
  const PlanFile plan = read(
      "work_group: amd\nmodules:\n  pre_trainer:\n    framework: megatron\n"
      "    config: pre_trainer.yaml\n    model: llama3.1_8B.yaml\n    overrides:\n"
      "      micro_batch_size: 4\n      global_batch_size: 128\n      seq_length: 8192\n"
      "      tensor_model_parallel_size: ${PRIMUS_TP:2}\n      fp8: hybrid\n",
      "llama.yaml");
  EXPECT_FALSE(has_errors(plan.findings));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "llama-3.1-8b");
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_THAT(plan.draft.zero, Optional(1));
  EXPECT_THAT(plan.draft.param_dtype, Optional(plan::Dtype::bf16));
}

TEST(PaiMegatron, AddsRowsToTheTokenizers) {
  const PlanFile plan = read("torchrun pretrain_qwen.py " + kShapes +
                                 "--patch-tokenizer-type Qwen2Tokenizer --extra-vocab-size 421\n",
                             "run.sh");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->vocab, 152064);
}

TEST(Megatron, ReadsFusedLoss_AndAutomaticGradients) {
  const PlanFile plan = read("torchrun pretrain_gpt.py " + kShapes +
                                 "--cross-entropy-loss-fusion --use-megatron-fsdp "
                                 "--megatron-fsdp-main-grads-dtype auto\n",
                             "run.sh");
  EXPECT_THAT(plan.draft.loss, Optional(plan::Loss::fused));
  EXPECT_THAT(plan.draft.grad_dtype, Optional(plan::Dtype::bf16));
}

TEST(MsSwift, AdaptersAreRead) {
  const std::string script =
      "megatron sft --model Qwen/Qwen3-8B --tensor_model_parallel_size 2 --max_length 2048 ";
  const PlanFile lora = read(script + "--tuner_type lora --target_modules q_proj v_proj\n", "a.sh");
  EXPECT_FALSE(has_errors(lora.findings));
  EXPECT_THAT(lora.draft.lora_rank, Optional(8));
  EXPECT_THAT(lora.draft.lora_modules,
              Optional(plan::LoraModules{true, false, true, false, false, false, false}));
  EXPECT_THAT(read(script + "--train_type lora --lora_rank 64\n", "a.sh").draft.lora_rank,
              Optional(64));
  EXPECT_EQ(read(script + "--lora_rank 64\n", "a.sh").draft.lora_rank, std::nullopt);
  EXPECT_TRUE(has_errors(read(script + "--tuner_type longlora\n", "a.sh").findings));
}

TEST(MegatronDeepSpeed, AttentionWritesItsScores_UnlessFlashAttentionIsOn) {
  const std::string script = "deepspeed pretrain_gpt.py " + kShapes + "--zero-stage 1 ";
  EXPECT_EQ(resolve(read(script + "\n", "a.sh").draft).software.attention,
            plan::AttentionKernel::unfused);
  EXPECT_EQ(resolve(read(script + "--use-flash-attn-v2\n", "a.sh").draft).software.attention,
            plan::AttentionKernel::flash2);
}

TEST(MsSwift, RanksOfTheLauncher_AreRead) {
  const PlanFile plan = read(
      "NPROC_PER_NODE=2 \\\nCUDA_VISIBLE_DEVICES=0,1 \\\nmegatron sft --model Qwen/Qwen3-8B "
      "--tensor_model_parallel_size 2 --max_length 2048\n",
      "a.sh");
  EXPECT_EQ(resolve(plan.draft).world, 2);
}

TEST(MegatronDeepSpeed, JsonInAHereDocument_IsNotMadeOfCommands) {
  const PlanFile plan = read(
      "N=256\ncat <<EOT > ds.json\n{\n  \"train_batch_size\" : $N,\n"
      "  \"zero_optimization\": {\n    \"stage\": 0\n  },\n  \"bf16\": {\n    \"enabled\": "
      "true\n  }\n}\nEOT\nargs=\"--tensor-model-parallel-size 2 \\\n" +
          kShapes + "--zero-stage 0\"\neval \"deepspeed finetune.py $args\"\n",
      "a.sh");
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_TRUE(plan.draft.model.has_value());
  EXPECT_FALSE(has_errors(plan.findings));
}

TEST(Slime, WorkBesideTheUpdate_IsNamed) {
  const auto findings = [](const std::string& flags) {
    return read("python3 train.py --rollout-batch-size 32 --tensor-model-parallel-size 2 " + flags +
                    "\n",
                "run.sh")
        .findings;
  };
  EXPECT_THAT(findings(""), left_out("only the update of the actor"));
  EXPECT_THAT(findings(""), Not(left_out("reference")));
  EXPECT_THAT(findings("--use-kl-loss --kl-loss-coef 0.00"), left_out("the reference model"));
  EXPECT_THAT(findings("--kl-coef 0.1"), left_out("the reference model"));
  EXPECT_THAT(findings("--kl-coef 0.00"), Not(left_out("reference")));
  EXPECT_THAT(findings("--colocate"), left_out("rollouts on its GPUs"));
  EXPECT_THAT(findings("--loss-type sft_loss"), Not(left_out("actor")));
}

TEST(Slime, RanksOfTheActor_AreNotThoseOfRay) {
  const PlanFile plan = read(
      "ray start --head --num-gpus 8\nray job submit -- python3 train.py --actor-num-nodes 16 "
      "--actor-num-gpus-per-node 8 --rollout-batch-size 32 --tensor-model-parallel-size 8 "
      "--global-batch-size 256\n",
      "run.sh");
  EXPECT_EQ(resolve(plan.draft).world, 128);
}

TEST(MegatronDeepSpeed, ExpertsAreInEverySecondLayer) {
  const std::string script =
      "deepspeed pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 "
      "--seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 1 --zero-stage 1 "
      "--num-experts 64 --topk 1 ";
  const auto sparse = [](const PlanFile& plan) {
    i64 n = 0;
    for (i64 i = 0; i < plan.draft.model->layers(); ++i)
      n += plan.draft.model->layer(i).ffn.sparse() ? 1 : 0;
    return n;
  };
  EXPECT_EQ(sparse(read(script + "\n", "a.sh")), 12);
  EXPECT_EQ(sparse(read(script + "--expert-interval 1\n", "a.sh")), 24);
}

TEST(Slime, ShapesOfASourcedFile_AreRead) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (path != "scripts/./models/small.sh") return refuse_file(path);
    return "NLAYERS=4\nFIRST_K_DENSE_REPLACE=1\narr=()\n"
           "for ((i=0; i<NLAYERS; i++)); do\n  arr+=(1)\ndone\n"
           "printf -v MOE_LAYER_FREQ \"[%s]\" \"$(IFS=', '; echo \"${arr[*]}\")\"\n"
           "MODEL_ARGS=(--num-layers 4 --hidden-size 512 --num-attention-heads 8 --swiglu\n"
           "  --num-experts 8 --moe-layer-freq $MOE_LAYER_FREQ --moe-ffn-hidden-size 256\n"
           "  --vocab-size 32000)\n";
  };
  const PlanFile plan = read(
      "DIR=\"$(cd -- \"$(dirname -- \"${BASH_SOURCE[0]}\")\" &>/dev/null && pwd)\"\n"
      "source \"${DIR}/models/small.sh\"\n"
      "python3 train.py --tensor-model-parallel-size 2 --rollout-batch-size 128 \\\n"
      "  --n-samples-per-prompt 8 --num-steps-per-rollout 4 ${MODEL_ARGS[@]}\n",
      "scripts/run.sh", files);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layers(), 4);
  EXPECT_FALSE(plan.draft.model->layer(0).ffn.sparse());
  EXPECT_TRUE(plan.draft.model->layer(1).ffn.sparse());
  EXPECT_THAT(plan.draft.global_batch, Optional(256));  // 128 x 8 / 4
  EXPECT_THAT(plan.draft.method, Optional(plan::Method::grpo));
}

TEST(MsSwift, MethodsAreRead) {
  const std::string text =
      "NPROC_PER_NODE=8 megatron rlhf --model Qwen/Qwen3-8B --max_length 2048 "
      "--micro_batch_size 1 --global_batch_size 16 --rlhf_type ";
  const PlanFile dpo = read(text + "dpo\n", "run.sh");
  EXPECT_THAT(dpo.draft.method, Optional(plan::Method::dpo));
  EXPECT_THAT(dpo.draft.ref_model, Optional(true));
  EXPECT_THAT(dpo.draft.micro_batch, Optional(2));  // a pair
  EXPECT_THAT(dpo.draft.global_batch, Optional(32));
  const PlanFile grpo = read(text + "grpo --max_completion_length 1024\n", "run.sh");
  EXPECT_THAT(grpo.draft.method, Optional(plan::Method::grpo));
  EXPECT_THAT(grpo.draft.sequence, Optional(3072));
  EXPECT_EQ(read(text + "kto\n", "run.sh").findings.at(0).code, "RW0601");
}

TEST(Primus, FileOfTheModel_IsRead) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (path == "a/b/../../primus/configs/models/megatron/small.yaml")
      return "extends: [base.yaml]\nnum_layers: 8\nnum_query_groups: null\n";
    if (path == "a/b/../../primus/configs/models/megatron/base.yaml")
      return "num_layers: 4\nhidden_size: 512\nnum_attention_heads: 8\nnum_query_groups: 2\n"
             "padded_vocab_size: 32000\nsequence_parallel: true\nseq_length: 2048\n";
    return refuse_file(path);
  };
  const PlanFile plan = read(
      "modules:\n  pre_trainer:\n    framework: megatron\n    model: ${NAME:small}.yaml\n"
      "    overrides:\n      seq_length: 4096\n      micro_batch_size: 1\n",
      "a/b/run.yaml", files);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layers(), 8);
  EXPECT_EQ(plan.draft.model->layer(0).attention.kv_heads, 8);
  EXPECT_THAT(plan.draft.sequence, Optional(4096));
  EXPECT_THAT(plan.draft.sequence_parallel, Optional(false));
}

TEST(MegatronDeepSpeed, ListOfExperts_IsTheirMean) {
  const PlanFile plan = read("deepspeed pretrain_gpt.py " + kShapes +
                                 "--zero-stage 1 --num-experts 64 64 128 128 --topk 1\n",
                             "run.sh");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layer(39).ffn.experts + plan.draft.model->layer(38).ffn.experts, 96);
  EXPECT_TRUE(std::any_of(plan.findings.begin(), plan.findings.end(), [](const Diagnostic& one) {
    return one.code == "RW0601" && one.detail.find("96 each") != std::string::npos;
  }));
}

TEST(Primus, AdaptersAndScripts_AreRead) {
  const std::string text =
      "modules:\n  sft_trainer:\n    framework: megatron\n    model: llama3_8B.yaml\n"
      "    overrides:\n      tensor_model_parallel_size: 1\n      bf16: true\n"
      "      lora: {dim: 16, enabled: ";
  EXPECT_THAT(read(text + "true}\n", "run.yaml").draft.lora_rank, Optional(16));
  EXPECT_EQ(read(text + "false}\n", "run.yaml").draft.lora_rank, std::nullopt);
  const PlanFile script = read(
      "export PRIMUS_EXP_NAME=a\nbash run.sh --tensor_model_parallel_size 2 "
      "--micro_batch_size 1 --global_batch_size 8\n",
      "run.sh");
  EXPECT_THAT(script.draft.param_dtype, Optional(plan::Dtype::bf16));
  EXPECT_THAT(script.draft.zero, Optional(1));
}

TEST(Slime, FlagsOfTheActor_AreNotIgnored) {
  const PlanFile plan = read(
      "python3 train.py --actor-num-nodes 2 --actor-num-gpus-per-node 8 --lr 1e-6 "
      "--hf-checkpoint /root/Qwen3-4B --rollout-batch-size 32 --rollout-max-response-len 8192 "
      "--global-batch-size 256 --tensor-model-parallel-size 2\n",
      "run.sh");
  for (const char* const flag :
       {"actor-num-nodes", "actor-num-gpus-per-node", "hf-checkpoint", "rollout-max-response-len"})
    EXPECT_THAT(plan.ignored_keys, testing::Not(testing::Contains(flag)));
  EXPECT_THAT(plan.ignored_keys, testing::Contains("lr"));
}

// A token goes to one expert unless --topk says otherwise.
TEST(MegatronDeepSpeed, ExpertsOfAToken) {
  const std::string script =
      "deepspeed pretrain_gpt.py " + kShapes + "--zero-stage 0 --num-experts 64 ";
  const auto active = [](const PlanFile& plan) { return plan.draft.model->layer(1).ffn.active; };
  EXPECT_EQ(active(read(script + "\n", "a.sh")), 1);
  EXPECT_EQ(active(read(script + "--topk 2\n", "a.sh")), 2);
}

// DeepSpeed's optimizer of bf16 shards its states without ZeRO too; that of fp16 does not.
TEST(MegatronDeepSpeed, StatesOfBf16AreSharded) {
  const std::string bf16 = "deepspeed pretrain_gpt.py " + kShapes + "--zero-stage 0\n";
  std::string fp16 = bf16;
  fp16.replace(fp16.find("--bf16"), 6, "--fp16");
  EXPECT_THAT(read(bf16, "a.sh").draft.zero, Optional(1));
  EXPECT_THAT(read(fp16, "a.sh").draft.zero, Optional(0));
}

TEST(MegatronDeepSpeed, TokenizerThatAFlagNames) {
  const PlanFile plan = read("deepspeed pretrain_gpt.py " + kShapes +
                                 "--zero-stage 1 --tokenizer-type PretrainedFromHF "
                                 "--tokenizer-name-or-path meta-llama/Llama-2-7b-hf\n",
                             "a.sh");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->vocab, 32000);
}

// The settings that a config of Primus does not override are in a file of its repository.
TEST(Primus, SettingsOfTorchtitan_AreInherited) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (path != "repo/examples/../primus/configs/modules/torchtitan/pre_trainer.yaml")
      return refuse_file(path);
    return "training:\n  batch_size: 1\n  seq_len: 8192\n";
  };
  const PlanFile plan = read_any_plan(
      "modules:\n  pre_trainer:\n    framework: torchtitan\n    config: pre_trainer.yaml\n"
      "    model: llama3.1_8B.yaml\n    overrides:\n      training:\n        batch_size: 2\n"
      "      parallelism:\n        tensor_parallel_degree: 8\n",
      "repo/examples/run.yaml", files);
  EXPECT_THAT(plan.draft.sequence, Optional(8192));
  EXPECT_THAT(plan.draft.micro_batch, Optional(2));
}

// Its arguments have an expert-tensor-parallel size of 1, where Megatron-LM's is the
// tensor-parallel size: 4 x 4 x 2 would not divide the 8 ranks.
TEST(MsSwift, ExpertTensorParallelSize_IsOneByDefault) {
  const PlanFile plan = read(
      "NPROC_PER_NODE=8 megatron sft --model Qwen/Qwen3-30B-A3B "
      "--tensor_model_parallel_size 4 --expert_model_parallel_size 4 "
      "--pipeline_model_parallel_size 2 --tuner_type full --max_length 4096\n",
      "a.sh");
  EXPECT_THAT(plan.draft.etp, Optional(1));
  EXPECT_FALSE(has_errors(plan.findings));
}

TEST(FlagScale, FileOfTheModel_IsRead) {
  const std::string text =
      "defaults:\n  - _self_\n  - train: 7b\nexperiment:\n"
      "  task: {type: train, backend: megatron}\n  runner: {nnodes: 1, nproc_per_node: 8}\n";
  const PlanFile plan = read(text, "conf/train.yaml", [](const std::string& path) {
    if (path != "conf/train/7b.yaml") return refuse_file(path);
    return Result<std::string>(
        "system: {tensor_model_parallel_size: 2, precision: {bf16: true}}\n"
        "model: {num_layers: 32, hidden_size: 4096, num_attention_heads: 32, seq_length: 2048, "
        "max_position_embeddings: 2048, micro_batch_size: 2, global_batch_size: 64}\n"
        "data: {tokenizer: {vocab_size: 100000, make_vocab_size_divisible_by: 64}}\n");
  });
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.tp, Optional(2));
  ASSERT_TRUE(plan.draft.shape.has_value());
  EXPECT_EQ(plan.draft.shape->gpus, 8);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layers(), 32);
  EXPECT_EQ(plan.draft.model->vocab, 100000);
}

const std::string kMindspeed =
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 6 --hidden-size 1024 "
    "--num-attention-heads 8 --ffn-hidden-size 8192 --num-experts 64 --moe-router-topk 8 "
    "--moe-intermediate-size 1024 --n-shared-experts 2 --swiglu --disable-bias-linear "
    "--seq-length 4096 --max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size 8 "
    "--bf16 --vocab-size 1000 --untie-embeddings-and-output-weights --reuse-fp32-param ";

TEST(MindSpeed, CountsLayersAndSharedExperts) {
  const PlanFile plan = read(kMindspeed + "--noop-layers 4,5 --first-k-dense-replace 1\n", "a.sh");
  EXPECT_FALSE(has_errors(plan.findings));
  ASSERT_TRUE(plan.draft.model.has_value());
  const model::Model& m = *plan.draft.model;
  EXPECT_EQ(m.layers(), 4);  // 6, of which 2 are empty
  ASSERT_EQ(m.runs.size(), 2u);
  EXPECT_FALSE(m.runs[0].layer.ffn.sparse());
  EXPECT_EQ(m.runs[1].layer.ffn.expert_width, 1024);
  EXPECT_EQ(m.runs[1].layer.ffn.shared_width, 2048);  // 2 x 1,024
}

TEST(MindSpeed, IntervalOfExpertsCountsAfterTheDenseLayers) {
  const auto dense = [](const std::string& flags) {
    const PlanFile plan = read(kMindspeed + flags, "a.sh");
    EXPECT_TRUE(plan.draft.model.has_value());
    i64 layers = 0;
    for (const auto& run : plan.draft.model->runs) layers += run.layer.ffn.sparse() ? 0 : run.count;
    return layers;
  };
  EXPECT_EQ(dense("--first-k-dense-replace 3 --moe-layer-freq 1\n"), 3);
  EXPECT_EQ(dense("--moe-layer-freq -1\n"), 0);
  EXPECT_EQ(dense("--first-k-dense-replace 3 --moe-layer-freq -1\n"), 3);
}

TEST(MindSpeed, NamedModulesHaveAdapters) {
  const PlanFile full = read(kMindspeed + "--lora-r 8\n", "a.sh");
  EXPECT_EQ(full.draft.lora_rank, std::nullopt);
  const PlanFile usual = read(kMindspeed + "--lora-target-modules linear_qkv\n", "a.sh");
  EXPECT_THAT(usual.draft.lora_rank, Optional(16));
  const PlanFile plan =
      read(kMindspeed +
               "--lora-r 4 --lora-alpha 8 --lora-fusion --lora-target-modules linear_qkv "
               "linear_proj --save x\n",
           "a.sh");
  EXPECT_THAT(plan.draft.lora_rank, Optional(4));
  EXPECT_THAT(plan.draft.lora_modules,
              Optional(plan::LoraModules{true, true, true, true, false, false, false}));
}

TEST(MindSpeed, LatentAttentionHasItsOwnNames) {
  const PlanFile plan = read(kMindspeed +
                                 "--multi-head-latent-attention --qk-rope-head-dim 64 "
                                 "--qk-nope-head-dim 128 --kv-lora-rank 512 --v-head-dim 128\n",
                             "a.sh");
  ASSERT_TRUE(plan.draft.model.has_value());
  const model::Attention& a = plan.draft.model->runs[0].layer.attention;
  EXPECT_EQ(a.kind, model::Attention::Kind::latent);
  EXPECT_EQ(a.nope_dim, 128);
  EXPECT_EQ(a.rope_dim, 64);
}

TEST(PaiMegatron, SharedExpertHasItsOwnName) {
  const std::string text =
      "torchrun pretrain_mcore_qwen.py --patch-tokenizer-type LLamaTokenizer --extra-vocab-size 0 "
      "--num-layers 2 --hidden-size 2048 --num-attention-heads 16 --ffn-hidden-size 5632 "
      "--num-experts 60 --moe-router-topk 4 --moe-ffn-hidden-size 1408 --swiglu "
      "--seq-length 2048 --micro-batch-size 1 --shared-moe-ffn-hidden-size 5632 "
      "--enable-shared-expert\n";
  const PlanFile plan = read(text, "a.sh");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->runs[0].layer.ffn.shared_width, 5632);
}

// Empty layers fill up stages, and experts are whole on the ranks of both groups.
TEST(MindSpeed, ReadsEmptyLayers_AndExpertsOverTensorGroups) {
  const PlanFile plan = read(
      "torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 1024 "
      "--num-attention-heads 16 --seq-length 4096 --max-position-embeddings 4096 "
      "--micro-batch-size 1 --global-batch-size 64 --bf16 --num-experts 16 "
      "--moe-router-topk 2 --moe-ffn-hidden-size 512 --tensor-model-parallel-size 2 "
      "--pipeline-model-parallel-size 4 --expert-model-parallel-size 2 --moe-tp-extend-ep "
      "--noop-layers 0,7 --swap-optimizer --tokenizer-type Llama2Tokenizer "
      "--context-parallel-algo ulysses_cp_algo\n",
      "run.sh");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.stage_layers, Optional(std::vector<i64>{1, 2, 2, 1}));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layers(), 6);
  EXPECT_THAT(plan.draft.ep, Optional(4));
  EXPECT_THAT(plan.draft.etp, Optional(1));
  EXPECT_THAT(plan.draft.offload_optimizer, Optional(1.0));
  EXPECT_THAT(plan.draft.cp_comm, Optional(plan::CpComm::a2a));
}

// The actor has ranks of its own, and batches count prompts.
TEST(MindSpeedRl, ReadsTheActor) {
  const PlanFile plan = read(
      "megatron_training:\n  model: qwen25_7b\n  bf16: true\n  global_batch_size: 64\n"
      "  seq_length: 4096\n  stage: ray_grpo\n  use_distributed_optimizer: true\n"
      "actor_config:\n  model: qwen25_7b\n  micro_batch_size: 1\n"
      "  tensor_model_parallel_size: 4\n  pipeline_model_parallel_size: 2\n"
      "critic_config:\n  tensor_model_parallel_size: 8\n"
      "rl_config:\n  mini_batch_size: 32\n  n_samples_per_prompt: 8\n"
      "  actor_resource:\n    num_npus: 16\n  critic_resource:\n    num_npus: 8\n",
      "grpo.yaml");
  EXPECT_FALSE(has_errors(plan.findings));
  const plan::TrainingConfig config = resolve(plan.draft);
  EXPECT_EQ(config.model.name, "qwen2.5-7b");
  EXPECT_EQ(config.world, 16);
  EXPECT_EQ(config.plan.tp, 4);
  EXPECT_EQ(config.plan.dp, 2);
  EXPECT_EQ(config.job.global_batch, 256);
  EXPECT_THAT(plan.draft.method, Optional(plan::Method::grpo));
}

TEST(MegatronDeepSpeed, FlagsThatAreNotPassed_DoNotMatter) {
  const PlanFile plan = read(
      "DS=false\nARGS=\"--tensor-model-parallel-size 2 --pipeline-model-parallel-size 2\"\n"
      "DS_ARGS=\"--deepspeed --deepspeed_config ds.json --zero-stage 0\"\n"
      "if [ $DS = true ]; then\n ARGS=\"$ARGS $DS_ARGS\"\nfi\n"
      "torchrun --nproc_per_node 8 pretrain_gpt.py " +
          kShapes + "$ARGS\n",
      "a.sh");
  EXPECT_FALSE(plan.draft.target.has_value());
}

TEST(MegatronDeepSpeed, StageThatTheScriptWrites_OverridesTheFlag) {
  const PlanFile plan = read(
      "D=$(dirname $(realpath $0))\nC=\"$D/ds.json\"\ncat <<EOT > $C\n{\n"
      "\"zero_optimization\": {\"stage\": 1, \"cpu_offload\": true}\n}\nEOT\n"
      "deepspeed pretrain_gpt.py " +
          kShapes + "--zero-stage 0 --deepspeed --deepspeed_config $C\n",
      "run/a.sh");
  EXPECT_THAT(plan.draft.zero, Optional(1));
}

TEST(MegatronDeepSpeed, OtherWordsOfRecomputation_AreReported) {
  const PlanFile plan = read("deepspeed --num_gpus 8 pretrain_gpt.py " + kShapes +
                                 "--zero-stage 1 --recompute-granularity=mlp\n",
                             "a.sh");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.findings, ::testing::Contains(::testing::Field(&Diagnostic::code, "RW0601")));
}

TEST(Megatron, EscapedLayout_IsRead) {
  const PlanFile plan = read(
      "MODEL_ARGS:\n  --num-layers: 4\n  --pipeline-model-parallel-size: 2\n"
      "  --tensor-model-parallel-size: 1\n"
      "  --pipeline-model-parallel-layout: Et\\\\|\\(tt\\\\|\\)*1tL\n",
      "a.yaml");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_TRUE(plan.draft.stages.has_value());
}

TEST(MindSpeed, RanksOfMsrun_AreRead) {
  const PlanFile plan = read("msrun --local_worker_num 16 --worker_num 256 pretrain_gpt.py " +
                                 kShapes + "--reuse-fp32-param\n",
                             "a.sh");
  ASSERT_TRUE(plan.draft.shape.has_value() || plan.draft.world.has_value());
  EXPECT_EQ(resolve(plan.draft).world, 256);
}

TEST(MegatronSwift, ModuleOfItsCommand_IsThatCommand) {
  const PlanFile plan = read(
      "torchrun --nproc_per_node 8 swift/cli/_megatron/sft.py --model Qwen/Qwen2.5-7B \\\n"
      "  --tensor_model_parallel_size 2 --micro_batch_size 1 --global_batch_size 16\n",
      "a.sh");
  EXPECT_THAT(plan.draft.zero, Optional(1));
  EXPECT_THAT(plan.draft.param_dtype, Optional(plan::Dtype::bf16));
}

TEST(Megatron, RanksInLowerCaseVariables_AreRead) {
  const PlanFile plan = read(
      "num_gpus=16\nnum_gpus_pernode=8\nnum_node=2\n"
      "deepspeed --hostfile hosts pretrain_gpt.py " +
          kShapes + "--zero-stage 1\n",
      "a.sh");
  EXPECT_EQ(resolve(plan.draft).world, 16);
}

// MindSpeed-MM states the shapes of an image model in a file.
TEST(MindSpeed, FileOfAModel_StatesTheLanguageModel) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (path != "m/model.json") return refuse_file(path);
    return "{\"image_encoder\": {\"num_layers\": 45}, \"text_decoder\": {\"num_layers\": 28, "
           "\"hidden_size\": 3584, \"ffn_hidden_size\": 18944, \"num_attention_heads\": 28, "
           "\"num_query_groups\": 4, \"vocab_size\": 152064, \"normalization\": \"RMSNorm\", "
           "\"position_embedding_type\": \"mrope\", \"gated_linear_unit\": true, "
           "\"add_bias_linear\": false, \"add_qkv_bias\": true, "
           "\"untie_embeddings_and_output_weights\": true, \"recompute_granularity\": \"full\"}}";
  };
  const PlanFile plan = read(
      "torchrun --nproc_per_node 8 pretrain_vlm.py --mm-model m/model.json --bf16 \\\n"
      "  --tensor-model-parallel-size 1 --pipeline-model-parallel-size 4 --seq-length 1024 "
      "\\\n  --micro-batch-size 1 --global-batch-size 8 --mm-tool mindspeed_mm/tools.json\n",
      "a.sh", files);
  EXPECT_FALSE(has_errors(plan.findings));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layers(), 28);
  EXPECT_EQ(plan.draft.model->vocab, 152064);
  EXPECT_THAT(plan.draft.recompute, Optional(plan::Recompute::full));
  EXPECT_THAT(plan.findings, ::testing::Contains(::testing::Field(&Diagnostic::code, "RW0601")));
}

// Experts are whole unless a flag splits them.
TEST(MegatronDeepSpeed, ExpertsAreNotSplitByTensorParallelism) {
  const std::string script = "deepspeed --num_gpus 8 pretrain_gpt.py " + kShapes +
                             "--zero-stage 1 --tensor-model-parallel-size 2 --num-experts 8 "
                             "--moe-expert-parallel-size 4 ";
  EXPECT_THAT(read(script + "\n", "a.sh").draft.etp, Optional(1));
  EXPECT_THAT(read(script + "--enable-expert-tensor-parallelism\n", "a.sh").draft.etp,
              ::testing::Not(Optional(1)));
}

TEST(Slime, FsdpBackend_IsRead) {
  const PlanFile plan = read(
      "ARGS=(--hf-checkpoint /models/Qwen3-4B --rollout-batch-size 32 --n-samples-per-prompt 8\n"
      "  --rollout-max-response-len 4096 --global-batch-size 256 --micro-batch-size 2)\n"
      "python3 train.py --train-backend fsdp --actor-num-nodes 1 --actor-num-gpus-per-node 8 \\\n"
      "  --gradient-checkpointing --fsdp-cpu-offload --colocate ${ARGS[@]}\n",
      "run.sh");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.zero, Optional(3));
  EXPECT_THAT(plan.draft.recompute, Optional(plan::Recompute::full));
  EXPECT_THAT(plan.draft.param_dtype, Optional(plan::Dtype::bf16));
  EXPECT_TRUE(plan.draft.offload_optimizer.has_value());
  EXPECT_THAT(plan.draft.method, Optional(plan::Method::grpo));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen3-4b");
  EXPECT_EQ(resolve(plan.draft).world, 8);
}

TEST(MindSpeed, LayersOfEachStage_AreRead) {
  const std::string script = "torchrun --nproc_per_node 8 pretrain_gpt.py " + kShapes +
                             "--reuse-fp32-param --pipeline-model-parallel-size 4 ";
  const PlanFile plan = read(script + "--num-layer-list 9,10,11,10\n", "a.sh");
  EXPECT_THAT(plan.draft.stage_layers, Optional(::testing::ElementsAre(9, 10, 11, 10)));
  const PlanFile other = read(script + "--num-layer-list 9,10\n", "a.sh");
  EXPECT_FALSE(other.draft.stage_layers.has_value());
  EXPECT_FALSE(has_errors(other.findings));
}

TEST(MindSpeed, StageOfPreferences_CountsPairs) {
  const PlanFile plan = read("torchrun --nproc_per_node 8 posttrain_gpt.py " + kShapes +
                                 "--reuse-fp32-param --stage dpo\n",
                             "a.sh");
  EXPECT_THAT(plan.draft.method, Optional(plan::Method::dpo));
  EXPECT_THAT(plan.draft.micro_batch, Optional(2));
}

TEST(MindSpeed, SettingsOfItsOwn_AreReported) {
  const auto reported = [](std::string_view flag) {
    return read("torchrun --nproc_per_node 8 pretrain_gpt.py " + kShapes + "--reuse-fp32-param " +
                    std::string(flag) + "\n",
                "a.sh")
        .findings.size();
  };
  for (const char* const flag :
       {"--moe-zero-memory level0", "--recompute-in-advance", "--schedules-method dualpipev",
        "--lu-lora-final-layer-index 11", "--fsdp2-config-path a.yaml"})
    EXPECT_EQ(reported(flag), reported("") + 1) << flag;
}

TEST(MegatronForks, FrozenPartsAndResidualExperts_AreReported) {
  const auto reported = [](std::string_view flags) {
    return read("NPROC_PER_NODE=8 megatron sft --model Qwen/Qwen2.5-7B --max_length 2048 " +
                    std::string(flags) + "\n",
                "a.sh")
        .findings.size();
  };
  for (const char* const flag : {"--freeze_llm true", "--freeze_vit true", "--mlp-type residual"})
    EXPECT_EQ(reported(flag), reported("") + 1) << flag;
  for (const char* const flag : {"--freeze_llm false", "--freeze_vit false", "--mlp-type standard"})
    EXPECT_EQ(reported(flag), reported("")) << flag;
}

// A script may bound a degree by one of its arguments.
TEST(MegatronDeepSpeed, OpenDegreeOfExperts_IsReportedUnderItsName) {
  const PlanFile plan = read(
      "GPUS=$1\nEP=8\nif [[ $EP -gt $GPUS ]]; then EP=$GPUS; fi\n"
      "deepspeed pretrain_gpt.py " +
          kShapes + "--num-experts 64 --moe-expert-parallel-size $EP --zero-stage 1\n",
      "a.sh");
  EXPECT_THAT(plan.findings,
              Contains(AllOf(Field(&Diagnostic::code, "RW0614"),
                             Field(&Diagnostic::detail, HasSubstr("--moe-expert-parallel-size")))));
  EXPECT_THAT(plan.open, Contains(Field(&OpenValue::key, "parallelism.ep_size")));
}

TEST(MindSpeed, OptimizerOfAFork_IsReported) {
  const auto reported = [](const std::string& name) {
    const PlanFile plan = read("torchrun pretrain_gpt.py " + kShapes +
                                   "--reuse-fp32-param --optimizer-selection " + name + "\n",
                               "a.sh");
    return std::any_of(plan.findings.begin(), plan.findings.end(), [](const Diagnostic& found) {
      return found.detail.starts_with("optimizer-selection");
    });
  };
  EXPECT_TRUE(reported("of_mine"));
  EXPECT_FALSE(reported("fused_adamw"));
}

// The sources of a framework are not read, and neither is what a script puts into them.
TEST(MegatronScript, FilesThatSedChanges_AreReported) {
  const std::string run = "torchrun pretrain_gpt.py " + kShapes + "\n";
  const auto reported = [&](const std::string& command) {
    const PlanFile plan = read(command + run, "a.sh");
    return std::any_of(plan.findings.begin(), plan.findings.end(), [](const Diagnostic& found) {
      return found.code == "RW0601" && found.detail.starts_with("sed changes 1 file");
    });
  };
  EXPECT_TRUE(reported("sed -i 's/bf16/fp8/' core/layers.py\n"));
  EXPECT_FALSE(reported("sed 's/bf16/fp8/' core/layers.py\n"));
  EXPECT_FALSE(reported("sed -i 's/a/b/' notes.txt\n"));
}

TEST(MegatronDeepSpeed, ConfigThatCannotBeRead_AndDpo_AreReported) {
  const auto reports = [](const std::string& program, const std::string& code,
                          const std::string& text) {
    const PlanFile plan = read("deepspeed " + program + " " + kShapes +
                                   "--tensor-model-parallel-size 2 --deepspeed_config=ds.json\n",
                               "run.sh");
    EXPECT_FALSE(has_errors(plan.findings));
    return std::any_of(plan.findings.begin(), plan.findings.end(), [&](const Diagnostic& found) {
      return found.code == code && found.detail.find(text) != std::string::npos;
    });
  };
  EXPECT_TRUE(reports("pretrain_gpt.py", "RW0615", "ds.json"));
  EXPECT_TRUE(reports("train_dpo.py", "RW0601", "reference model of DPO"));
  EXPECT_FALSE(reports("endpoint.py", "RW0601", "DPO"));
  const PlanFile written = read(
      "CONFIG=ds.json\nsed s/ZERO/1/ template.json > $CONFIG\n"
      "deepspeed pretrain_gpt.py " +
          kShapes + "--deepspeed_config $CONFIG\n",
      "run.sh");
  EXPECT_THAT(written.findings,
              Contains(AllOf(Field(&Diagnostic::code, "RW0615"),
                             Field(&Diagnostic::detail, HasSubstr("writes from another file")))));
}

// Names of linear layers before Megatron-LM's core.
TEST(MindSpeed, OlderNamesOfLinearLayers_AreAdapted) {
  const PlanFile plan = read("torchrun mindspeed_gpt.py " + kShapes +
                                 "--tensor-model-parallel-size 2 --lora-r 4 --lora-target-modules "
                                 "dense dense_4h_to_h\n",
                             "run.sh");
  EXPECT_THAT(plan.draft.lora_modules,
              Optional(plan::LoraModules{false, false, false, true, false, false, true}));
}

// A fork for DeepSeek-V2-Lite: MLA, 64 routed experts of 1,408 and two shared ones.
TEST(MegatronDeepspeed, FlagsOfDeepseek_AreRead) {
  const PlanFile plan = read_any_plan(
      "deepspeed --num_gpus 8 pretrain_deepseek.py --deepspeed --zero-stage 1 --num-layers 27 \\\n"
      "  --hidden-size 2048 --ffn-hidden-size 10944 --num-attention-heads 16 --seq-length 4096 \\\n"
      "  --max-position-embeddings 4096 --num-routed-experts 64 --num-shared-experts 2 \\\n"
      "  --moe-router-topk 6 --moe-ffn-hidden-size 1408 --kv-lora-rank 512 \\\n"
      "  --qk-nope-head-dim 128 --qk-rope-head-dim 64 --v-head-dim 128 --swiglu \\\n"
      "  --normalization RMSNorm --disable-bias-linear --use-rotary-position-embeddings \\\n"
      "  --untie-embeddings-and-output-weights --vocab-size 102400 --micro-batch-size 1 \\\n"
      "  --global-batch-size 64 --expert-model-parallel-size 8 --moe-layer-freq 1\n",
      "run.sh", refuse_file);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_TRUE(plan.draft.model->latent());
  EXPECT_EQ(plan.draft.model->layer(1).ffn.experts, 64);
  EXPECT_FALSE(has_errors(plan.findings));
}

// ZeRO accumulates in the format of the model unless data_types.grad_accum_dtype is stated
// (deepspeed/runtime/engine.py, get_data_types).
TEST(MegatronDeepSpeed, GradientsOfZero_HaveTheFormatOfTheModel) {
  const auto format = [](const std::string& config) {
    const FileReader files = [&](const std::string& path) -> Result<std::string> {
      return path.ends_with("ds.json") ? Result<std::string>(config) : refuse_file(path);
    };
    return read("deepspeed --num_gpus 8 pretrain_gpt.py " + kShapes +
                    "--deepspeed --deepspeed_config ds.json\n",
                "a.sh", files)
        .draft.grad_dtype;
  };
  EXPECT_THAT(format("{\"zero_optimization\": {\"stage\": 1}}"), Optional(plan::Dtype::bf16));
  EXPECT_THAT(format("{\"zero_optimization\": {\"stage\": 0}}"), Optional(plan::Dtype::fp32));
  EXPECT_THAT(format("{\"zero_optimization\": {\"stage\": 1}, \"data_types\": "
                     "{\"grad_accum_dtype\": \"fp32\"}}"),
              Optional(plan::Dtype::fp32));
}

TEST(MegatronDeepSpeed, FlashAttentionOfItsBuilder_IsRead) {
  const PlanFile plan = read("deepspeed --num_gpus 8 pretrain_gpt.py " + kShapes +
                                 "--deepspeed --zero-stage 1 --use-flash-attn-builder\n",
                             "a.sh");
  EXPECT_EQ(resolve(plan.draft).software.attention, plan::AttentionKernel::flash2);
}

// A YAML file takes the place of the flags; the script has the ranks.
TEST(Megatron, YamlThatAScriptNames_IsRead) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (!path.ends_with("gpt.yaml")) return refuse_file(path);
    return "language_model:\n  num_layers: 4\n  hidden_size: 512\n  num_attention_heads: 8\n"
           "micro_batch_size: 2\nglobal_batch_size: 16\nseq_length: 256\nbf16: true\n";
  };
  const PlanFile plan =
      read("torchrun --nproc_per_node 4 pretrain_gpt.py --yaml-cfg gpt.yaml\n", "a.sh", files);
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_EQ(resolve(plan.draft).world, 4);
  EXPECT_THAT(plan.draft.micro_batch, Optional(2));
  EXPECT_THAT(plan.draft.global_batch, Optional(16));
}

TEST(Megatron, GroupsWithoutTheirSwitch_AreReported) {
  const std::string script = "torchrun pretrain_gpt.py " + kShapes + "--num-query-groups 4 ";
  EXPECT_THAT(read(script + "\n", "a.sh").findings, left_out("--group-query-attention"));
  EXPECT_THAT(read(script + "--group-query-attention\n", "a.sh").findings,
              Not(left_out("--group-query-attention")));
}

// Responses are trained whole, also those that are longer than --seq-length.
TEST(Slime, LongResponses_AreTheSequence) {
  const auto sequence = [](const std::string& flags) {
    return read(
               "python3 train.py --actor-num-nodes 1 --actor-num-gpus-per-node 8 "
               "--rollout-batch-size 16 --num-layers 4 --hidden-size 512 "
               "--num-attention-heads 8 " +
                   flags + "\n",
               "a.sh")
        .draft.sequence;
  };
  EXPECT_THAT(sequence("--seq-length 4096 --rollout-max-response-len 8192"), Optional(8192));
  EXPECT_THAT(sequence("--seq-length 8192 --rollout-max-response-len 6000"), Optional(8192));
}

}  // namespace megatron_forks_test
}  // namespace rankwright::importer
