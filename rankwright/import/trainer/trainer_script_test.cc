// Launch scripts of the Trainer: what programs name, and what other commands of a script state.
#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_format.h"
#include "tests/support/left_out.h"
#include "tests/support/repository.h"

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
  EXPECT_THAT(dtype("--bf16 False --torch_dtype bfloat16"), Optional(plan::Dtype::bf16));
  EXPECT_THAT(dtype("--max_seq_length 64"), Optional(plan::Dtype::fp32));
  EXPECT_EQ(dtype("--num_generations 8"), std::nullopt);  // TRL computes in bf16 since 0.20
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
              assumes("adapters of rank 4 on q_proj, v_proj"));
  EXPECT_THAT(
      read(run("train.py", "--use_lora True --lora_r 4 --lora_target_modules q_proj")).findings,
      Not(assumes("adapters of rank")));
  // qlora.py adapts all linear layers, and so do the programs after it.
  EXPECT_THAT(read(run("train.py", "--use_lora True --lora_r 4 --bits 4")).findings,
              assumes("adapters of rank 4 on all linear layers"));
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

// `--train_type` and `--stage` are also settings of programs of their own.
TEST(TrainerScript, WordsOfOtherPrograms_AreNotThoseOfTools) {
  const PlanFile plan = read(
      run("train.py", "--train_type sft --stage finetune --use_lora True --tune_mm_llm False"));
  EXPECT_THAT(plan.findings, Not(Contains(Field(&Diagnostic::severity, Severity::error))));
  EXPECT_THAT(plan.findings, Not(left_out("estimated as trained")));
  EXPECT_THAT(plan.findings, Not(left_out("reward model")));
}

// DPOConfig limits the completion, too.
TEST(TrainerScript, PairsAreTold_FromCompletions) {
  const std::string limits = "--max_prompt_length 64 --max_completion_length 64 --max_length 200 ";
  const PlanFile pairs = read(run("train.py", limits + "--beta 0.1"));
  EXPECT_THAT(pairs.draft.method, Optional(plan::Method::dpo));
  EXPECT_THAT(pairs.draft.ref_model, Optional(true));
  EXPECT_THAT(pairs.draft.sequence, Optional(200));
  EXPECT_THAT(pairs.draft.micro_batch, Optional(6));
  const PlanFile simpo = read(run("train.py", "--loss_type simpo --model_max_length 99"));
  EXPECT_THAT(simpo.draft.ref_model, Optional(false));
  EXPECT_THAT(simpo.draft.sequence, Optional(99));
  // The tokenizer's limit is another one.
  EXPECT_THAT(read(run("dpo.py", "--model_max_length 99 --max_length 50")).draft.sequence,
              Optional(50));
  EXPECT_THAT(read(run("train.py", "--num_generations 4 --loss_type dapo")).draft.method,
              Optional(plan::Method::grpo));
  EXPECT_THAT(read(run("train.py", "--dpo True")).draft.method, Optional(plan::Method::dpo));
}

TEST(TrainerScript, CommandsOfTrl_StateTheMethodAndTheLength) {
  const std::string flags =
      "--model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 2\n";
  const PlanFile pairs = read("trl dpo " + flags);
  EXPECT_THAT(pairs.draft.method, Optional(plan::Method::dpo));
  EXPECT_THAT(pairs.draft.micro_batch, Optional(4));
  EXPECT_THAT(pairs.draft.sequence, Optional(1024));
  EXPECT_THAT(read("trl grpo " + flags).draft.sequence, Optional(768));  // 512 + 256
  EXPECT_THAT(pairs.findings, Contains(Field(&Diagnostic::detail, HasSubstr("no recomputation"))));
  const FileReader files = [](const std::string& name) -> Result<std::string> {
    if (!name.ends_with("r.yaml")) return refuse_file(name);
    return "model_name_or_path: Qwen/Qwen2.5-7B\nper_device_train_batch_size: 2\nbf16: true\n";
  };
  for (const char* const command :
       {"accelerate launch dpo.py r.yaml\n", "accelerate launch train.py --config dpo/r.yaml\n",
        "trl dpo --config r.yaml\n"})
    EXPECT_THAT(read(command, files).draft.micro_batch, Optional(4)) << command;
}

TEST(TrainerScript, RanksOfOneProcess) {
  const std::string flags = " --model Qwen/Qwen2.5-7B --max_length 64\n";
  const PlanFile plain = read("swift sft" + flags);
  ASSERT_TRUE(plain.draft.shape.has_value());
  EXPECT_EQ(plain.draft.shape->gpus, 1);
  EXPECT_THAT(plain.draft.accumulation, Optional(16));  // 16 sequences in a step
  EXPECT_THAT(read("NPROC_PER_NODE=8 swift sft" + flags).draft.accumulation, Optional(2));
  EXPECT_THAT(
      read("NPROC_PER_NODE=8 swift sft --per_device_train_batch_size 4" + flags).draft.accumulation,
      Optional(1));
  // The number of nodes, as the platform counts them.
  const PlanFile platform =
      read("if [ $1 == a ]; then\nWORLD_SIZE=1 NPROC_PER_NODE=8 swift sft" + flags + "fi\n");
  EXPECT_THAT(platform.usual_world, Optional(8));
  const std::string program =
      "python train.py --model_name_or_path Qwen/Qwen2.5-7B --learning_rate 1\n";
  EXPECT_THAT(read("CUDA_VISIBLE_DEVICES=0,1 " + program).usual_world, Optional(2));
  EXPECT_THAT(read(program).usual_world, Optional(1));
  EXPECT_THAT(read("g=${g:-0,1,2,3}\nCUDA_VISIBLE_DEVICES=$g llamafactory-cli train "
                   "--model_name_or_path Qwen/Qwen2.5-7B --stage sft\n")
                  .usual_world,
              Optional(4));
}

// ms-swift's GRPO holds a reference unless its weight is 0, which is 0.04 by default.
TEST(TrainerScript, PenaltyOfSwift_HasADefault) {
  const std::string grpo =
      "NPROC_PER_NODE=4 swift rlhf --rlhf_type grpo --model Qwen/Qwen2.5-7B --max_length 64 ";
  EXPECT_THAT(read(grpo + "\n").draft.ref_model, Optional(true));
  EXPECT_THAT(read(grpo + "--beta 0\n").draft.ref_model, Optional(false));
}

TEST(TrainerScript, FirstOfSeveralRuns_IsReadAsAWhole) {
  const FileReader files = [](const std::string& name) -> Result<std::string> {
    if (!name.ends_with("c2.yaml")) return refuse_file(name);
    return "model_name_or_path: Qwen/Qwen2.5-0.5B\nmax_length: 16384\nuse_liger_kernel: true\n";
  };
  const PlanFile plan = read(
      "accelerate launch --num_processes=4 sft.py --model_name_or_path Qwen/Qwen2.5-1.5B \\\n"
      "  --max_seq_length 4096 --per_device_train_batch_size 2\n"
      "accelerate launch --num_processes=2 sft.py --config c2.yaml\n",
      files);
  EXPECT_EQ(plan.draft.model->name, "qwen2.5-1.5b");
  EXPECT_THAT(plan.draft.world, Optional(4));
  EXPECT_THAT(plan.draft.sequence, Optional(4096));
  EXPECT_EQ(plan.draft.loss, std::nullopt);
  EXPECT_THAT(plan.findings,
              Contains(Field(&Diagnostic::detail, HasSubstr("starts 2 training runs"))));
}

TEST(TrainerScript, ConfigBesideTheScript_IsFoundByItsName) {
  const FileReader files = [](const std::string& name) -> Result<std::string> {
    if (name != "sft.yaml") return refuse_file(name);
    return "model_name_or_path: Qwen/Qwen2.5-7B\nfinetuning_type: full\n"
           "per_device_train_batch_size: 1\n";
  };
  for (const char* const name : {"../sft.yaml", "/root/a/sft.yaml"}) {
    const PlanFile plan = read(std::string("llamafactory-cli train ") + name + "\n", files);
    ASSERT_TRUE(plan.draft.model.has_value()) << name;
    EXPECT_EQ(plan.draft.model->name, "qwen2.5-7b") << name;
  }
  EXPECT_THAT(read("llamafactory-cli train other.yaml\n", files).findings,
              Contains(Field(&Diagnostic::code, "RW0603")));
}

TEST(TrainerScript, ProgramsOfTheirOwn_AreRead) {
  const PlanFile own = read(
      "torchrun --nproc-per-node 4 train.py --base_model_dir Qwen/Qwen2.5-7B --train_batch_size 2 "
      "--accumulation_steps 8 --max_seq_length 512 --enable_lora --lora_rank 128\n");
  EXPECT_EQ(own.draft.model->name, "qwen2.5-7b");
  EXPECT_THAT(own.draft.micro_batch, Optional(2));
  EXPECT_THAT(own.draft.accumulation, Optional(8));
  EXPECT_THAT(own.draft.lora_rank, Optional(128));
  // alpaca-lora: a step has 128 sequences.
  const PlanFile step = read(
      "torchrun --nproc_per_node=2 finetune.py --base_model meta-llama/Llama-2-7b-hf "
      "--batch_size 128 --micro_batch_size 4 --cutoff_len 512 --lora_r 8 --lora_alpha 16\n");
  EXPECT_THAT(step.draft.micro_batch, Optional(4));
  EXPECT_THAT(step.draft.global_batch, Optional(128));
}

TEST(TrainerScript, AdaptersInTheCodeOfAProgram_AreAssumed) {
  std::string code =
      "from peft import LoraConfig, get_peft_model\nRANK = 6\nconfig = LoraConfig(\n"
      "    r=RANK, lora_alpha=8, target_modules=['q_proj', \"v_proj\"],  # some\n)\n"
      "model = load(name, load_in_4bit=True)\n";
  const FileReader files = [&](const std::string& name) -> Result<std::string> {
    return name.ends_with("train.py") ? Result<std::string>(code)
                                      : Result<std::string>(refuse_file(name));
  };
  const PlanFile plan = read(run("train.py", "--bf16"), files);
  EXPECT_THAT(plan.draft.lora_rank, Optional(6));
  EXPECT_EQ(show(*plan.draft.lora_modules, " "), "q_proj v_proj");
  EXPECT_THAT(plan.draft.base_dtype, Optional(plan::BaseDtype::nf4));
  EXPECT_THAT(plan.findings, Contains(Field(&Diagnostic::detail, HasSubstr("adapters of rank 6"))));
  EXPECT_FALSE(read(run("train.py", "--use_lora False"), files).draft.lora_rank.has_value());
  code += "if args.lora:\n  wrap(model)\n";  // an argument decides
  EXPECT_FALSE(read(run("train.py", "--bf16"), files).draft.lora_rank.has_value());
}

TEST(TrainerScript, ArgumentsInTheCodeOfAProgram_AreAssumed) {
  const std::string code =
      "args = GRPOConfig(\n    # of a step\n    per_device_train_batch_size=1, "
      "deepspeed=a.config,\n"
      "    gradient_accumulation_steps=8, bf16=True, optim=\"adafactor\", num_generations=4)\n";
  const FileReader files = [&](const std::string& name) -> Result<std::string> {
    return name.ends_with("train.py") ? Result<std::string>(code)
                                      : Result<std::string>(refuse_file(name));
  };
  const std::string run =
      "torchrun --nproc_per_node=4 src/train.py --model_name_or_path Qwen/Qwen2.5-7B --out_dir x ";
  const PlanFile plan = read(run + "\n", files);
  EXPECT_THAT(plan.draft.micro_batch, Optional(1));
  EXPECT_THAT(plan.draft.accumulation, Optional(8));
  EXPECT_THAT(plan.draft.optimizer, Optional(plan::Optimizer::adafactor));
  EXPECT_THAT(plan.draft.method, Optional(plan::Method::grpo));
  EXPECT_THAT(plan.findings,
              Contains(Field(&Diagnostic::detail, HasSubstr("as src/train.py has them"))));
  EXPECT_THAT(read(run + "--gradient_accumulation_steps 2\n", files).draft.accumulation,
              Optional(2));
  EXPECT_THAT(read(run + "\n").findings, Contains(Field(&Diagnostic::code, "RW0603")));
}

// The options of a program have defaults in its code, and names of their own.
TEST(TrainerScript, DefaultsOfTheOptionsOfAProgram_AreRead) {
  const FileReader files = repository(
      {{"train.py",
        "from args import DataArguments\n"
        "parser.add_argument(\"--lora-r\", type=int, default=24)\n"
        "parser.add_argument('--batch', type=int, default=5)\n"
        "parser.add_argument('--optim', default='adafactor')\n"
        "args = TrainingArguments(per_device_train_batch_size=args.batch, bf16=args.bf16)\n"},
       {"args.py",
        "@dataclass\nclass DataArguments:\n    model_max_length: int = field(\n"
        "        default=768, metadata={'help': 'of a sequence'})\n    lora_enable: bool = False\n"
        "def cut(max_length: int = 99):\n    return max_length\n"}});
  const std::string command =
      "deepspeed --num_gpus 2 train.py --model_name_or_path meta-llama/Llama-2-7b-hf "
      "--gradient_accumulation_steps 1 ";
  const PlanFile plan = read(command + "\n", files);
  EXPECT_THAT(plan.draft.sequence, Optional(768));
  EXPECT_THAT(plan.draft.micro_batch, Optional(5));
  EXPECT_THAT(plan.draft.optimizer, Optional(plan::Optimizer::adafactor));
  EXPECT_EQ(plan.draft.lora_rank, std::nullopt);  // its switch is off
  EXPECT_THAT(plan.findings, Contains(Field(&Diagnostic::detail,
                                            HasSubstr("model_max_length 768, optim adafactor, the "
                                                      "defaults of train.py"))));
  const PlanFile stated = read(
      command + "--batch 3 --max_seq_length 512 --lora_enable True --optim adamw_torch\n", files);
  EXPECT_THAT(stated.draft.micro_batch, Optional(3));
  EXPECT_THAT(stated.draft.sequence, Optional(512));
  EXPECT_THAT(stated.draft.lora_rank, Optional(24));
  EXPECT_THAT(stated.draft.optimizer, Optional(plan::Optimizer::adam));
}

TEST(TrainerScript, ModelThatAProgramLoads_IsRead) {
  const auto load = [](const std::string& code, const std::string& flags) {
    return read("python train.py --per_device_train_batch_size 1 " + flags + "\n",
                repository({{"train.py", code}}));
  };
  const std::string half =
      "BASE = \"Qwen/Qwen2.5-7B\"\n"
      "model = AutoModelForCausalLM.from_pretrained(BASE, torch_dtype=torch.float16)\n"
      "teacher = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-72B')\n"
      "trainer = DPOTrainer(model, args, max_length=640)\n"
      "training_args.gradient_accumulation_steps = 6\n";
  const PlanFile plan = load(half, "");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen2.5-7b");
  EXPECT_THAT(plan.draft.param_dtype, Optional(plan::Dtype::fp16));
  EXPECT_THAT(plan.draft.master_dtype, Optional(plan::Dtype::fp16));
  EXPECT_THAT(plan.draft.sequence, Optional(640));
  EXPECT_THAT(plan.draft.accumulation, Optional(6));
  EXPECT_THAT(plan.findings,
              Contains(Field(&Diagnostic::detail, HasSubstr("teacher in train.py"))));
  // A flag decides, or names the format.
  EXPECT_THAT(load(half, "--bf16").draft.param_dtype, Optional(plan::Dtype::bf16));
  // A cast of the whole model.
  const std::string cast = "model = AutoModel.from_pretrained(name)\nmodel = model.bfloat16()\n";
  EXPECT_THAT(load(cast, "--bf16").draft.master_dtype, Optional(plan::Dtype::bf16));
  EXPECT_EQ(
      load("if args.half:\n  " + cast.substr(cast.find('\n') + 1), "--bf16").draft.master_dtype,
      std::nullopt);
  const std::string choice =
      "model = LlamaForCausalLM.from_pretrained(args.base,\n"
      "    torch_dtype=(torch.bfloat16 if args.bf16 else None))\n";
  const PlanFile chosen = load(choice, "--base meta-llama/Llama-2-7b-hf --bf16 True");
  EXPECT_EQ(chosen.draft.model->name, "llama-2-7b");
  EXPECT_THAT(chosen.draft.master_dtype, Optional(plan::Dtype::bf16));
}

// safe-rlhf and DeepSpeed-Chat make DeepSpeed's config from flags.
TEST(TrainerScript, FlagsOfZero_AreRead) {
  const PlanFile safe = read(
      "deepspeed --num_gpus 2 --module safe_rlhf.finetune --model_name_or_path "
      "meta-llama/Llama-2-7b-hf --per_device_train_batch_size 4 --zero_stage 3 "
      "--offload optimizer --bf16 True\n");
  EXPECT_THAT(safe.draft.zero, Optional(3));
  EXPECT_THAT(safe.draft.offload_optimizer, Optional(1));
  EXPECT_FALSE(safe.draft.offload_parameters.value_or(false));
  const PlanFile chat = read(
      "deepspeed --num_gpus 2 main.py --model_name_or_path meta-llama/Llama-2-7b-hf "
      "--per_device_train_batch_size 4 --zero_stage 3 --offload --dtype bf16 --deepspeed \\\n"
      "  --lora_dim 128 --only_optimize_lora\n");
  EXPECT_THAT(chat.draft.zero, Optional(3));
  EXPECT_THAT(chat.draft.offload_parameters, Optional(true));
  EXPECT_THAT(chat.draft.lora_rank, Optional(128));
}

// from_pretrained loads fp32 weights unless told otherwise, and adapters leave them so.
TEST(TrainerScript, FrozenWeights_HaveTheFormatThatTheyAreLoadedIn) {
  const auto base = [](const std::string& load, const std::string& flags) {
    return read(run("train.py", flags),
                repository({{"train.py", "model = AutoModelForCausalLM.from_pretrained(name" +
                                             load + ")\nx = LoraConfig(r=8)\n"}}))
        .draft.base_dtype;
  };
  EXPECT_THAT(base("", "--bf16"), Optional(plan::BaseDtype::fp32));
  EXPECT_EQ(base(", torch_dtype=torch.bfloat16", "--bf16"), std::nullopt);
  EXPECT_EQ(base(", quantization_config=bits", "--bf16"), std::nullopt);
  EXPECT_THAT(base(", dtype=d", "--bf16 --torch_dtype float32"), Optional(plan::BaseDtype::fp32));
}

TEST(TrainerScript, CollectedArguments_AreThoseOfTheTrainer) {
  for (const char* const kwargs :
       {"dict(gradient_checkpointing=True, bf16=True)",
        "{\n    \"gradient_checkpointing\": True,\n    'bf16': True,\n}"}) {
    const PlanFile plan =
        read(run("train.py", ""),
             repository({{"train.py", std::string("config_kwargs: dict[str, Any] = ") + kwargs +
                                          "\nargs = make(GRPOConfig(**config_kwargs))\n"}}));
    EXPECT_THAT(plan.draft.recompute, Optional(plan::Recompute::full)) << kwargs;
    EXPECT_THAT(plan.draft.param_dtype, Optional(plan::Dtype::bf16)) << kwargs;
    EXPECT_THAT(plan.draft.method, Optional(plan::Method::grpo)) << kwargs;
  }
}

TEST(TrainerScript, SwitchThatAProgramDoesNotApply_IsDropped) {
  const std::string code =
      "from liger_kernel.transformers import apply_liger_kernel_to_qwen2_5_vl\n"
      "@dataclass\nclass Arguments:\n    use_liger: bool = True\n";
  const auto loss = [&](const std::string& more) {
    return read(run("train.py", "--use_liger True"), repository({{"train.py", code + more}}))
        .draft.loss;
  };
  EXPECT_EQ(loss("use = args.use_liger\n"), std::nullopt);
  EXPECT_THAT(loss("if args.use_liger:\n    apply_liger_kernel_to_qwen2_5_vl()\n"),
              Optional(plan::Loss::fused_linear));
}

TEST(TrainerScript, FileOfAdapters_IsRead) {
  const std::string json = "{\"lora_r\": 16, \"lora_target_modules\": [\"q_proj\", \"down_proj\"]}";
  const std::string flags = "--use_lora True --lora_config conf/lora.json --fp16";
  const PlanFile plan = read(run("train.py", flags), repository({{"conf/lora.json", json}}));
  EXPECT_THAT(plan.draft.lora_rank, Optional(16));
  EXPECT_EQ(show(*plan.draft.lora_modules, " "), "q_proj down_proj");
  EXPECT_THAT(read(run("train.py", flags)).findings,
              Contains(Field(&Diagnostic::detail, HasSubstr("conf/lora.json cannot be read"))));
}

// FastChat: a condition on the bits of frozen weights decides nothing about adapters.
TEST(TrainerScript, AdaptersThatMayBeQuantized_AreRead) {
  const std::string code =
      "@dataclass\nclass LoraArguments:\n    lora_r: int = 8\n    q_lora: bool = False\n"
      "model = AutoModelForCausalLM.from_pretrained(\n    a.name,\n"
      "    quantization_config=Bits(load_in_4bit=True) if lora_args.q_lora else None,\n)\n"
      "config = LoraConfig(r=lora_args.lora_r, target_modules=lora_args.modules)\n";
  const PlanFile plan = read(run("train.py", "--bf16"), repository({{"train.py", code}}));
  EXPECT_THAT(plan.draft.lora_rank, Optional(8));
  // Without the code, the name of FastChat's program states them, and any other name a rank.
  const PlanFile fastchat = read(run("fastchat/train/train_lora.py", "--bf16"));
  EXPECT_THAT(fastchat.draft.lora_rank, Optional(8));
  EXPECT_TRUE(read(run("finetune_lora.py", "--bf16")).draft.lora_rank.has_value());
}

TEST(TrainerScript, ConfigOfAModelBesideTheScript_IsRead) {
  std::string type = "llama";
  const FileReader files = [&](const std::string& name) -> Result<std::string> {
    if (!name.ends_with("conf/tiny.json")) return refuse_file(name);
    return "{\"model_type\": \"" + type + R"(", "hidden_size": 512, "intermediate_size": 1024,
               "num_hidden_layers": 8, "num_attention_heads": 8, "vocab_size": 32000})";
  };
  const PlanFile plan = read(
      "accelerate launch run_clm.py --config_name conf/tiny.json --bf16 --torch_dtype bfloat16 "
      "--block_size 64 --per_device_train_batch_size 2\n",
      files);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layers(), 8);
  EXPECT_EQ(plan.draft.master_dtype, std::nullopt);  // no weights are loaded in bf16
  type = "own-v4";
  const PlanFile own = read(
      "accelerate launch run_clm.py --config_name conf/tiny.json "
      "--per_device_train_batch_size 2\n",
      files);
  ASSERT_TRUE(own.draft.model.has_value());
  EXPECT_THAT(own.findings, Contains(Field(&Diagnostic::detail, HasSubstr("layers of LLaMA"))));
}

// Module by module: the experts of gpt-oss are parameters of one.
TEST(TrainerScript, AdaptersOfGptOss_AreThoseOfAttention) {
  const PlanFile plan = read(
      "llamafactory-cli train --model_name_or_path openai/gpt-oss-20b "
      "--stage sft --finetuning_type lora --lora_target all\n");
  EXPECT_EQ(show(*plan.draft.lora_modules, " "), "q_proj k_proj v_proj o_proj");
  EXPECT_THAT(plan.draft.attention, Optional(plan::AttentionKernel::unfused));
  EXPECT_THAT(plan.findings, Contains(Field(&Diagnostic::detail, HasSubstr("unfused attention"))));
}

TEST(TrainerScript, RunsWithOtherFlags_AreNotMerged) {
  const PlanFile plan = read(run("train.py", "--max_seq_length 64 --gradient_checkpointing") +
                             run("train.py", "--max_seq_length 64 --fsdp full_shard"));
  EXPECT_THAT(plan.draft.zero, Optional(0));
  EXPECT_THAT(plan.draft.recompute, Optional(plan::Recompute::full));
  EXPECT_THAT(plan.findings,
              Contains(Field(&Diagnostic::detail, HasSubstr("starts 2 training runs"))));
}

TEST(TrainerScript, UnknownSettingsThatMayMatter_AreNamed) {
  const auto names = [](const std::string& flag) {
    return Contains(
        AllOf(Field(&Diagnostic::code, "RW0618"), Field(&Diagnostic::detail, HasSubstr(flag))));
  };
  const PlanFile plan = read(run("train.py",
                                 "--freeze_audio True --data_path x --lora_alpha 3 --output_dir y "
                                 "--critic_model_name_or_path z --quant_mode int4"));
  EXPECT_THAT(plan.findings, names("--freeze_audio, --quant_mode"));
  EXPECT_THAT(plan.findings, Not(names("--data_path")));
  EXPECT_THAT(plan.findings, left_out("without this one"));
  EXPECT_THAT(read(run("train.py", "--use_8bit_adam")).draft.optimizer,
              Optional(plan::Optimizer::adam_8bit));
}

TEST(TrainerScript, SwitchOfDeepSpeed_AndItsConfig) {
  const PlanFile plan = read(run("main.py", "--deepspeed --deepspeed_config conf/ds_zero2.json"));
  EXPECT_THAT(plan.draft.zero, Optional(2));
}

TEST(TrainerScript, ConfigOfAccelerate_ByItsName) {
  const std::string flags =
      " train.py --model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 1\n";
  const PlanFile fsdp = read("accelerate launch --config_file /x/my_fsdp.yaml" + flags);
  EXPECT_THAT(fsdp.draft.zero, Optional(3));
  EXPECT_NE(fsdp.draft.target, std::optional(rules::Target::deepspeed));
}

TEST(TrainerScript, ScriptsOfAnEnvironment_HaveNoSettings) {
  const PlanFile plan = read(
      "source /home/me/anaconda3/etc/profile.d/conda.sh\nsource "
      "/home/me/projects/training/settings/cluster_settings.sh\n" +
      run("train.py", "--bf16"));
  const auto notes = [&](const std::string& text) {
    return std::count_if(plan.findings.begin(), plan.findings.end(), [&](const Diagnostic& one) {
      return one.detail.find(text) != std::string::npos;
    });
  };
  EXPECT_EQ(notes("conda"), 0);
  EXPECT_EQ(notes("settings/cluster_settings.sh,"), 1);  // the end of a long name
}

// The YAML of a program of its own has a section for the model and one per method.
TEST(TrainerScript, SectionsOfAConfig_AreRead) {
  const std::string yaml =
      "model_config: {model_name: Qwen/Qwen3-32B, torch_dtype: bfloat16}\n"
      "dpo_config: {per_device_train_batch_size: 7, max_length: 64}\n"
      "sft_config: {per_device_train_batch_size: 1, gradient_accumulation_steps: 8, bf16: true,\n"
      "  max_length: 8192}\n";
  const PlanFile plan =
      read("deepspeed --num_gpus=8 --module train.full.py --config configs/run.yaml --sft-only\n",
           repository({{"configs/run.yaml", yaml}}));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen3-32b");
  EXPECT_THAT(plan.draft.micro_batch, Optional(1));
  EXPECT_THAT(plan.draft.accumulation, Optional(8));
  EXPECT_THAT(plan.draft.sequence, Optional(8192));
}

// The trainer stops if its flags and DeepSpeed's config name different formats.
TEST(TrainerScript, FormatOfAnotherConfig_IsReported) {
  const auto finds = [](const std::string& json) {
    return read(run("train.py", "--bf16 True --deepspeed ds.json"), repository({{"ds.json", json}}))
        .findings;
  };
  EXPECT_THAT(finds("{\"fp16\": {\"enabled\": true}, \"zero_optimization\": {\"stage\": 3}}"),
              Contains(Field(&Diagnostic::code, "RW0616")));
  EXPECT_THAT(finds("{\"bf16\": {\"enabled\": true}, \"zero_optimization\": {\"stage\": 3}}"),
              Not(Contains(Field(&Diagnostic::code, "RW0616"))));
}

// A program by itself is read as if it were run without options.
TEST(TrainerScript, ProgramOfTheTrainer_IsRead) {
  const PlanFile plan = read_any_plan(
      "args = GRPOConfig(max_prompt_length=512, max_completion_length=1024, num_generations=4,\n"
      "    per_device_train_batch_size=4)\n"
      "trainer = GRPOTrainer(model=\"Qwen/Qwen2-0.5B-Instruct\", args=args)\n",
      "demo.py", refuse_file);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen2-0.5b");
  EXPECT_THAT(plan.draft.micro_batch, Optional(4));
  EXPECT_THAT(plan.draft.sequence, Optional(1536));
  EXPECT_FALSE(has_errors(plan.findings));
}

TEST(TrainerScript, AdaptersOfAnotherBranch_AreNotRead) {
  const auto rank = [](const std::string& type) {
    return read(run("train.py", "--bf16 --train_type " + type),
                repository({{"train.py",
                             "if args.train_type == 'use_lora':\n"
                             "    config = LoraConfig(r=32)\n"}}))
        .draft.lora_rank;
  };
  EXPECT_EQ(rank("freeze_vision_and_language"), std::nullopt);
  EXPECT_THAT(rank("use_lora"), Optional(32));
}

TEST(TrainerScript, AdaptersThatAreTrainedFurther_AreRead) {
  const PlanFile plan = read(run("train.py", "--bf16 --adapter_path out/sft-r32"),
                             repository({{"train.py",
                                          "m = PeftModel.from_pretrained(b, args.adapter_path, "
                                          "is_trainable=True)\nargs = GRPOConfig(bf16=True)\n"}}));
  EXPECT_THAT(plan.draft.lora_rank, Optional(32));
}

// The value is known when the program runs: the Trainer's default is not it.
TEST(TrainerScript, BatchOfAnExpression_IsOpen) {
  const PlanFile plan =
      read("deepspeed --num_gpus 2 train.py --model_name_or_path Qwen/Qwen2-0.5B --bf16\n",
           repository({{"train.py",
                        "n = int(sys.argv[1])\n"
                        "a = TrainingArguments(per_device_train_batch_size=n)\n"}}));
  EXPECT_EQ(plan.draft.micro_batch, std::nullopt);
  EXPECT_THAT(plan.findings, Contains(Field(&Diagnostic::code, "RW0614")));
}

// A launcher states ranks and sharding, and the program the rest in its code.
TEST(TrainerScript, LauncherWithoutFlagsOfTheProgram_IsRead) {
  const PlanFile plan = read(
      "nohup accelerate launch --config_file conf/a.yaml x/scripts/train_accel.py > log 2>&1 &\n",
      repository({{"conf/a.yaml",
                   "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\n"
                   "deepspeed_config: {zero_stage: 3}\nmixed_precision: bf16\nnum_machines: 1\n"
                   "num_processes: 3\n"}}));
  EXPECT_THAT(plan.draft.zero, Optional(3));
  EXPECT_THAT(plan.draft.param_dtype, Optional(plan::Dtype::bf16));
  EXPECT_FALSE(has_errors(plan.findings));
}

// Its name is that of a program of ms-swift, which has other defaults.
TEST(TrainerScript, ProgramOfTheRepository_HasNoDefaultsOfATool) {
  const FileReader files = repository(
      {{"llm_sft.py", "a = TrainingArguments(per_device_train_batch_size=2, output_dir='o')\n"}});
  const PlanFile plan = read("torchrun --nproc_per_node 1 scripts/llm_sft.py\n", files);
  EXPECT_THAT(plan.draft.micro_batch, Optional(2));
  EXPECT_EQ(plan.draft.lora_rank, std::nullopt);
  EXPECT_NE(plan.draft.recompute, plan::Recompute::full);
}

TEST(TrainerScript, AttentionThatTheProgramChooses_IsRead) {
  const auto attention = [](const std::string& flags) {
    return read(run("train.py", "--bf16 " + flags),
                repository({{"train.py",
                             "use_flash_attn: bool = False\n"
                             "m = AutoModelForCausalLM.from_pretrained(n, attn_implementation="
                             "\"flash_attention_2\" if args.use_flash_attn else \"eager\")\n"}}))
        .draft.attention;
  };
  EXPECT_THAT(attention("--use_flash_attn False"), Optional(plan::AttentionKernel::unfused));
  EXPECT_EQ(attention("--use_flash_attn True"), std::nullopt);
}

// A host that waits for every kernel is not estimated.
TEST(TrainerScript, BlockingLaunches_AreReported) {
  EXPECT_THAT(read("export CUDA_LAUNCH_BLOCKING=1\n" + run("train.py", "--bf16")).findings,
              left_out("CUDA_LAUNCH_BLOCKING=1"));
  EXPECT_THAT(read(run("train.py", "--bf16")).findings, Not(left_out("LAUNCH_BLOCKING")));
}

}  // namespace trainer_script_test
}  // namespace rankwright::importer
