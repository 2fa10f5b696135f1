// Launch scripts of the Trainer: what programs name, and what other commands of a script state.
#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_format.h"
#include "tests/support/left_out.h"

namespace rankwright::importer {
namespace trainer_script_test {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

PlanFile read(const std::string& text, const FileReader& files = refuse_file) {
  return read_any_plan(text, "run.sh", files);
}

/// A training command that runs `program` with further flags.
std::string run(const std::string& program, const std::string& flags) {
  return "torchrun --nproc_per_node 2 " + program +
         " --model_name_or_path meta-llama/Llama-2-7b-hf --per_device_train_batch_size 3 \\\n  " +
         flags + "\n";
}

TEST(TrainerScript, ValuesOfSwitches_AreWordsOfPython) {
  const auto dtype = [](const std::string& flags) {
    return read(run("train.py", flags)).draft.param_dtype;
  };
  EXPECT_THAT(dtype("--fp16 True --bf16 False"), Optional(plan::Dtype::fp16));
  EXPECT_THAT(dtype("--bf16 False --bf16 True"), Optional(plan::Dtype::bf16));
  // The weights are loaded in fp32 unless the program is told otherwise.
  EXPECT_THAT(dtype("--bf16 False"), Optional(plan::Dtype::fp32));
  EXPECT_EQ(dtype("--bf16 False --torch_dtype bfloat16"), std::nullopt);
  EXPECT_EQ(dtype("--max_seq_length 64"), std::nullopt);
}

// A program of preference optimization has pairs of sequences, and says so by its name.
TEST(TrainerScript, NameOfTheProgram_StatesTheMethod) {
  const PlanFile pairs = read(run("scripts/train_dpo.py", "--bf16"));
  EXPECT_THAT(pairs.draft.method, Optional(plan::Method::dpo));
  EXPECT_THAT(pairs.draft.ref_model, Optional(true));
  EXPECT_THAT(pairs.draft.micro_batch, Optional(6));
  EXPECT_THAT(pairs.findings,
              Contains(AllOf(Field(&Diagnostic::code, "RW0615"),
                             Field(&Diagnostic::detail, HasSubstr("train_dpo.py")))));
  const PlanFile odds = read(run("run_orpo.py", "--bf16"));
  EXPECT_THAT(odds.draft.method, Optional(plan::Method::dpo));
  EXPECT_THAT(odds.draft.ref_model, Optional(false));
  const PlanFile plain = read(run("train.py", "--bf16"));
  EXPECT_EQ(plain.draft.method, std::nullopt);
  EXPECT_THAT(plain.draft.micro_batch, Optional(3));
}

TEST(TrainerScript, NameOfTheProgram_StatesAdapters) {
  const PlanFile plan = read(run("run_sft_with_peft.py",
                                 "--lora_rank 64 --trainable q_proj,down_proj --modules_to_save "
                                 "embed_tokens,lm_head"));
  EXPECT_THAT(plan.draft.lora_rank, Optional(64));
  ASSERT_TRUE(plan.draft.lora_modules.has_value());
  EXPECT_EQ(show(*plan.draft.lora_modules, " "), "q_proj down_proj");
  EXPECT_THAT(plan.findings, left_out("modules_to_save"));
  const PlanFile full = read(run("run_sft_with_peft.py", "--lora_rank 8 --full_finetuning True"));
  EXPECT_FALSE(full.draft.lora_rank.has_value());
}

// The GPUs of a command that prepares data are not those of the training.
TEST(TrainerScript, VisibleGpusOfAnotherCommand_LeaveTheRanksOpen) {
  const std::string train =
      "deepspeed train.py --model_name_or_path meta-llama/Llama-2-7b-hf \\\n"
      "  --per_device_train_batch_size 1\n";
  const PlanFile other = read("CUDA_VISIBLE_DEVICES=0,1,2 bash generate.sh \\\n  data\n" + train);
  EXPECT_FALSE(other.draft.shape.has_value());
  for (const char* const mine : {"CUDA_VISIBLE_DEVICES=0,1,2 ", "CUDA_VISIBLE_DEVICES=0,1,2 \\\n",
                                 "export CUDA_VISIBLE_DEVICES=0,1,2\n"}) {
    const PlanFile plan = read(mine + train);
    ASSERT_TRUE(plan.draft.shape.has_value()) << mine;
    EXPECT_EQ(plan.draft.shape->gpus, 3) << mine;
  }
}

TEST(TrainerScript, SecondFrozenModel_IsReported) {
  const std::string flags = "--ref_name_or_path Qwen/Qwen2.5-3B --num_generations 4 --beta ";
  EXPECT_THAT(read(run("train.py", flags + "0")).findings, left_out("without this one"));
  // The reference of a penalty is counted.
  EXPECT_THAT(read(run("train.py", flags + "0.04")).findings, Not(left_out("without this one")));
}

// GKD's beta mixes two losses: no reference model is held for it.
TEST(TrainerScript, WeightOfAnotherMethod_IsNotAPenalty) {
  const std::string command =
      "NPROC_PER_NODE=2 swift rlhf --model Qwen/Qwen2.5-7B --max_length 256 --beta 0.5 "
      "--per_device_train_batch_size 1 --rlhf_type ";
  const PlanFile distilled = read(command + "gkd --max_completion_length 64\n");
  EXPECT_THAT(distilled.draft.ref_model, Optional(false));
  EXPECT_THAT(distilled.draft.sequence, Optional(320));
  const PlanFile kto = read(command + "kto\n");
  EXPECT_NE(kto.draft.method, plan::Method::dpo);  // its batch counts sequences
  EXPECT_THAT(kto.draft.micro_batch, Optional(1));
}

TEST(TrainerScript, WordsOfFsdp_AreAllRead) {
  const PlanFile plan = read(run("train.py", "--fsdp \"full_shard auto_wrap offload\""));
  EXPECT_THAT(plan.draft.zero, Optional(3));
  EXPECT_THAT(plan.draft.offload_parameters, Optional(true));
  EXPECT_THAT(plan.draft.offload_optimizer, Optional(true));
}

TEST(TrainerScript, HybridShards_AreThoseOfANode) {
  const std::string two =
      "torchrun --nnodes 2 --nproc_per_node 8 train.py --model_name_or_path "
      "meta-llama/Llama-2-7b-hf --per_device_train_batch_size 1 --fsdp ";
  const PlanFile full = read(two + "\"hybrid_shard auto_wrap\"\n");
  EXPECT_THAT(full.draft.zero, Optional(3));
  EXPECT_THAT(full.draft.replicas, Optional(2));
  const PlanFile grads = read(two + "hybrid_shard_zero2\n");
  EXPECT_THAT(grads.draft.zero, Optional(2));
  EXPECT_EQ(read(two + "full_shard\n").draft.replicas, std::nullopt);
}

TEST(TrainerScript, FileOfFsdpSettings_IsFollowed) {
  const FileReader files = [](const std::string& name) -> Result<std::string> {
    if (!name.ends_with("f.json")) return refuse_file(name);
    return R"({"activation_checkpointing": true, "offload_params": true})";
  };
  const PlanFile plan = read(run("train.py", "--fsdp full_shard --fsdp_config f.json"), files);
  EXPECT_THAT(plan.draft.recompute, Optional(plan::Recompute::full));
  EXPECT_THAT(plan.draft.offload_parameters, Optional(true));
  EXPECT_THAT(read(run("train.py", "--fsdp full_shard --fsdp_config g.json")).findings,
              Contains(AllOf(Field(&Diagnostic::code, "RW0615"),
                             Field(&Diagnostic::detail, HasSubstr("g.json")))));
}

// One process of ms-swift puts some of the layers on each GPU; its name of a model is what the
// model calls itself.
TEST(TrainerScript, SwiftWithoutRanks_SpreadsTheLayers) {
  const std::string swift =
      "CUDA_VISIBLE_DEVICES=0,1 swift sft --model Qwen/Qwen3-8B --model_name qwen2.5-7b-me \n";
  const PlanFile plan = read(swift);
  EXPECT_EQ(plan.draft.model->name, "qwen3-8b");
  EXPECT_EQ(plan.draft.shape->gpus, 1);
  EXPECT_THAT(plan.findings, left_out("spreads the layers over 2 GPUs"));
  EXPECT_THAT(read("NPROC_PER_NODE=2 " + swift).findings, Not(left_out("spreads")));
}

TEST(TrainerScript, UnstatedPenalty_IsAssumedToBeOff) {
  const auto assumed = Contains(AllOf(Field(&Diagnostic::code, "RW0615"),
                                      Field(&Diagnostic::detail, HasSubstr("reference model"))));
  EXPECT_THAT(read(run("grpo.py", "--num_generations 4")).findings, assumed);
  EXPECT_THAT(read(run("grpo.py", "--num_generations 4 --beta 0")).findings, Not(assumed));
}

TEST(TrainerScript, PartsBesideTheUpdate_AreNamed) {
  EXPECT_THAT(read(run("train.py", "--num_generations 4 --max_completion_length 64")).findings,
              left_out("generation"));
  EXPECT_THAT(read(run("train.py", "--freeze_vision_tower False")).findings,
              left_out("language model"));
}

// The rank and the modules are in a program that is not read.
TEST(TrainerScript, AdaptersOfAProgram_AreAssumed) {
  const auto assumes = [](const std::string& detail) {
    return Contains(
        AllOf(Field(&Diagnostic::code, "RW0615"), Field(&Diagnostic::detail, HasSubstr(detail))));
  };
  const PlanFile own = read(run("train.py", "--use_lora True"));
  EXPECT_THAT(own.draft.lora_rank, Optional(8));
  EXPECT_THAT(own.findings, assumes("adapters of rank 8 on q_proj, v_proj"));
  EXPECT_THAT(read(run("train.py", "--use_lora True --lora_r 4")).findings,
              Not(assumes("adapters of rank")));
  // TRL's ModelConfig: lora_r = 16.
  EXPECT_THAT(read(run("sft.py", "--use_peft")).draft.lora_rank, Optional(16));
}

TEST(TrainerScript, RankWithAScaleOrQuantizedWeights_TrainsAdapters) {
  const PlanFile scaled = read(run("train.py", "--lora_r 4 --lora_alpha 32"));
  EXPECT_THAT(scaled.draft.lora_rank, Optional(4));
  const PlanFile quantized = read(run("train.py", "--lora_r 4 --quantization_bit 8"));
  EXPECT_THAT(quantized.draft.lora_rank, Optional(4));
  EXPECT_THAT(quantized.draft.base_dtype, Optional(plan::BaseDtype::int8));
  const PlanFile off = read(run("train.py", "--lora_r 4 --lora_alpha 32 --use_lora False"));
  EXPECT_FALSE(off.draft.lora_rank.has_value());
  const PlanFile rank = read(run("train.py", "--lora_r 4"));
  EXPECT_FALSE(rank.draft.lora_rank.has_value());
  EXPECT_THAT(rank.findings, left_out("no setting turns adapters on"));
  EXPECT_THAT(read(run("train.py", "--load_in_8bit True")).findings, left_out("load_in_8bit"));
}

TEST(TrainerScript, PartsThatAreTrainedOrAdded_AreReported) {
  EXPECT_THAT(read(run("train.py", "--train_modules fc1 fc2")).findings, left_out("as trained"));
  EXPECT_THAT(read(run("train.py", "--moe_enable True")).findings, left_out("experts"));
}

// H4ArgumentParser and HfArgumentParser take one YAML file, and flags that override it.
TEST(TrainerScript, YamlAsAnArgument_HasTheSettings) {
  const FileReader files = [](const std::string& name) -> Result<std::string> {
    if (!name.ends_with("full.yaml")) return refuse_file(name);
    return "model_name_or_path: Qwen/Qwen2.5-7B\nper_device_train_batch_size: 4\n"
           "max_seq_length: 512\nbf16: true\n";
  };
  const std::string launch =
      "accelerate launch --num_processes 4 scripts/run_sft.py conf/full.yaml";
  const PlanFile plan = read(launch + "\n", files);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen2.5-7b");
  EXPECT_THAT(plan.draft.micro_batch, Optional(4));
  EXPECT_THAT(plan.draft.world, Optional(4));
  EXPECT_THAT(read(launch + " --max_seq_length=256\n", files).draft.sequence, Optional(256));
  EXPECT_THAT(read("accelerate launch run_sft.py other.yaml\n", files).findings,
              Contains(Field(&Diagnostic::code, "RW0603")));
}

TEST(TrainerScript, LengthWithoutALimit) {
  const PlanFile plan =
      read("NPROC_PER_NODE=2 swift sft --model Qwen/Qwen2.5-7B --max_length -1\n");
  EXPECT_FALSE(plan.draft.sequence.has_value());
  EXPECT_THAT(plan.findings, Not(Contains(Field(&Diagnostic::severity, Severity::error))));
}

TEST(TrainerScript, SourceAndTarget_AreTheSequence) {
  EXPECT_THAT(
      read(run("train.py", "--max_source_length 200 --max_target_length 56")).draft.sequence,
      Optional(256));
}

TEST(TrainerScript, NameOfAConfigWithoutOffloading) {
  const PlanFile plan = read(run("train.py", "--deepspeed conf/ds_zero2_no_offload.json"));
  EXPECT_THAT(plan.draft.zero, Optional(2));
  EXPECT_FALSE(plan.draft.offload_optimizer.has_value());
}

}  // namespace trainer_script_test
}  // namespace rankwright::importer
