// Training programs alone and beside their scripts: what their options, names and files decide.
#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_format.h"
#include "tests/support/left_out.h"
#include "tests/support/repository.h"

namespace rankwright::importer {
namespace trainer_program_test {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

/// Reads a program alone.
PlanFile read(const std::string& code, const FileReader& files = refuse_file) {
  return read_any_plan(code, "train.py", files);
}

/// Reads a script that runs a program with flags.
PlanFile run(const std::string& flags, const std::string& code) {
  return read_any_plan(
      "torchrun --nproc_per_node 2 train.py --model_name_or_path Qwen/Qwen2-0.5B "
      "--per_device_train_batch_size 3 --bf16 True " +
          flags + "\n",
      "run.sh", repository({{"train.py", code}}));
}

const std::string kArguments =
    "a = TrainingArguments(output_dir='o', per_device_train_batch_size=2, bf16=True)\n";

// A switch is off unless the command gives it: what stands under it does not run.
TEST(TrainerProgram, SwitchThatIsOff_DropsItsBranch) {
  const std::string code =
      "p.add_argument('--gradient_checkpointing', action='store_true')\n"
      "args = p.parse_args()\n"
      "training_args = TrainingArguments(output_dir='o')\n"
      "if args.gradient_checkpointing:\n    training_args.gradient_checkpointing = True\n";
  EXPECT_NE(run("", code).draft.recompute, plan::Recompute::full);
  EXPECT_EQ(run("--gradient_checkpointing", code).draft.recompute, plan::Recompute::full);
}

TEST(TrainerProgram, OtherBranchOfASwitchThatIsOff_IsRead) {
  const std::string code =
      "p.add_argument('--no-lora', action='store_true')\n"
      "p.add_argument('--lora-rank', type=int, default=16)\n"
      "args = p.parse_args()\n"
      "if args.no_lora:\n    lora = None\nelse:\n    lora = LoraConfig(r=args.lora_rank)\n"
      "c = SFTConfig(output_dir='o', per_device_train_batch_size=2)\n"
      "t = SFTTrainer(model='Qwen/Qwen2-0.5B', args=c, peft_config=lora)\n";
  EXPECT_THAT(read(code).draft.lora_rank, Optional(16));
}

TEST(TrainerProgram, BitsBehindASwitchThatIsOff_AreNotLoaded) {
  const auto base = [](const std::string& flags) {
    return run(flags,
               "p.add_argument('--use_4bit', action='store_true', default=False)\n"
               "args = p.parse_args()\n"
               "q = BitsAndBytesConfig(load_in_4bit=True) if args.use_4bit else None\n"
               "m = get_peft_model(m, LoraConfig(r=8))\n" +
                   kArguments)
        .draft.base_dtype;
  };
  EXPECT_NE(base(""), plan::BaseDtype::nf4);
  EXPECT_EQ(base("--use_4bit"), plan::BaseDtype::nf4);
}

// elif, else, `and`, `or` and comparisons: only the branch that runs counts.
TEST(TrainerProgram, ConditionsOfOptions_Choose) {
  const auto micro = [](const std::string& condition) {
    return read(
               "p.add_argument('--mode', default='full')\n"
               "p.add_argument('--big', action='store_true')\n"
               "args = p.parse_args()\n"
               "if " +
               condition +
               ":\n    c = TrainingArguments(per_device_train_batch_size=4)\n"
               "elif args.mode == 'full':\n"
               "    c = TrainingArguments(per_device_train_batch_size=5)\n"
               "else:\n    c = TrainingArguments(per_device_train_batch_size=6)\n")
        .draft.micro_batch;
  };
  EXPECT_THAT(micro("args.big"), Optional(5));
  EXPECT_THAT(micro("not args.big"), Optional(4));
  EXPECT_THAT(micro("args.big or args.mode == 'full'"), Optional(4));
  EXPECT_THAT(micro("args.big and unknown()"), Optional(5));
  EXPECT_THAT(micro("args.mode != 'full'"), Optional(5));
}

// Only the classes that the parser is given are options.
TEST(TrainerProgram, ClassesThatTheParserTakes_HaveTheDefaults) {
  const PlanFile plan = run("",
                            "@dataclass\nclass TuneParams(TrainingArguments):\n"
                            "    gradient_checkpointing: bool = field(default=True)\n"
                            "@dataclass\nclass OtherParams(TrainingArguments):\n"
                            "    max_completion_length: int = 64\n"
                            "parser = HfArgumentParser((ModelParams, TuneParams))\n");
  EXPECT_EQ(plan.draft.recompute, plan::Recompute::full);
  EXPECT_NE(plan.draft.method, plan::Method::grpo);
}

TEST(TrainerProgram, ModuleOfParameters_IsRead) {
  const PlanFile plan = read_any_plan(
      "torchrun --nproc_per_node 2 $REPO/src/train.py --model_name_or_path Qwen/Qwen2-0.5B "
      "--per_device_train_batch_size 3\n",
      "run.sh",
      repository({{"src/train.py",
                   "from src.params import TuneParams\np = HfArgumentParser((TuneParams,))\n"},
                  {"src/params.py",
                   "class TuneParams(HFTrainingArguments):\n"
                   "    gradient_checkpointing: bool = field(default=True)\n"}}));
  EXPECT_EQ(plan.draft.recompute, plan::Recompute::full);
}

// SFTConfig.max_length is 1,024 (trl/trainer/sft_config.py), also for TrainingArguments, which
// SFTTrainer converts.
TEST(TrainerProgram, SequenceOfSftTrainer_HasTrlsDefault) {
  const PlanFile plan = read(kArguments + "t = SFTTrainer(model='Qwen/Qwen2-0.5B', args=a)\n");
  EXPECT_THAT(plan.draft.sequence, Optional(1024));
  EXPECT_THAT(plan.findings, assumes("TRL's default"));
  EXPECT_EQ(read(kArguments + "t = Trainer(model='Qwen/Qwen2-0.5B', args=a)\n").draft.sequence,
            std::nullopt);
}

TEST(TrainerProgram, ArgumentsThatAreFiltered_AreRead) {
  const PlanFile plan = read(
      "wanted = dict(per_device_train_batch_size=2, gradient_accumulation_steps=3, "
      "max_prompt_length=64,\n    max_completion_length=128, gradient_checkpointing=True)\n"
      "c = GRPOConfig(**{k: v for k, v in wanted.items() if k in known})\n");
  EXPECT_THAT(plan.draft.micro_batch, Optional(2));
  EXPECT_THAT(plan.draft.accumulation, Optional(3));
  EXPECT_THAT(plan.draft.sequence, Optional(192));
  EXPECT_EQ(plan.draft.recompute, plan::Recompute::full);
}

// transformers has the keyword `dtype` since the releases that TRL 0.22 needs, which recomputes.
TEST(TrainerProgram, KeywordOfNewReleases_TellsTheDefault) {
  const auto recompute = [](const std::string& keyword) {
    return read("m = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2-0.5B', " + keyword +
                "=torch.bfloat16)\n"
                "c = DPOConfig(output_dir='o', per_device_train_batch_size=1, bf16=True)\n")
        .draft.recompute;
  };
  EXPECT_EQ(recompute("dtype"), plan::Recompute::full);
  EXPECT_NE(recompute("torch_dtype"), plan::Recompute::full);
}

// GKD's sequences are those of fine-tuning, and its teacher is another model.
TEST(TrainerProgram, Distillation_IsNoReinforcement) {
  const PlanFile plan =
      run("--max_length 2048 --max_completion_length 256 --lmbda 1",
          "from trl import GKDConfig\nparser = TrlParser((ScriptArguments, GKDConfig))\n");
  EXPECT_NE(plan.draft.method, plan::Method::grpo);
  EXPECT_THAT(plan.draft.sequence, Optional(2048));
  EXPECT_THAT(plan.findings, left_out("teacher"));
}

TEST(TrainerProgram, NamesPassedToFunctions_AreFollowed) {
  const PlanFile plan = read(
      "NAME = 'Qwen/Qwen2-0.5B'\n"
      "def load(size, name: str):\n    return AutoModelForCausalLM.from_pretrained(name)\n"
      "m = load(1, NAME)\n" +
      kArguments);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen2-0.5b");
}

TEST(TrainerProgram, ItemsOfMaps_AreRead) {
  const PlanFile plan = read(
      "DEFAULTS = dict(\n    model_name='Qwen/Qwen2-0.5B', prompt=512 + 64,\n)\n"
      "p.add_argument('--model_name', default=DEFAULTS['model_name'])\n"
      "p.add_argument('--max_prompt_length', type=int, default=DEFAULTS['prompt'])\n"
      "c = GRPOConfig(per_device_train_batch_size=2, max_prompt_length=args.max_prompt_length,\n"
      "    max_completion_length=int(64), bf16=True)\n"
      "t = GRPOTrainer(model=args.model_name, args=c)\n");
  EXPECT_THAT(plan.draft.sequence, Optional(640));
}

TEST(TrainerProgram, ConfigThatItLoads_IsRead) {
  const std::string code =
      "def load_config(path):\n    with open(path) as f:\n        return yaml.safe_load(f)\n"
      "p.add_argument('--config', default='configs/dpo.yaml')\n"
      "config = load_config(args.config)\n"
      "training = config['training']\n"
      "c = DPOConfig(per_device_train_batch_size=training['batch'],\n"
      "    max_length=training.get('length', 64),\n"
      "    gradient_checkpointing=config['training']['recompute'], bf16=True)\n"
      "m = AutoModelForCausalLM.from_pretrained(config['model']['name'])\n";
  const PlanFile plan =
      read(code, repository({{"configs/dpo.yaml",
                              "model: {name: Qwen/Qwen2-0.5B}\n"
                              "training: {batch: 2, length: 2048, recompute: true}\n"}}));
  EXPECT_THAT(plan.draft.micro_batch, Optional(4));  // pairs
  EXPECT_THAT(plan.draft.sequence, Optional(2048));
  EXPECT_EQ(plan.draft.recompute, plan::Recompute::full);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen2-0.5b");
  // Without the file, a setting that the code states is open.
  EXPECT_THAT(read(code).findings,
              Contains(AllOf(Field(&Diagnostic::code, "RW0614"),
                             Field(&Diagnostic::detail, HasSubstr("gradient_checkpointing")))));
}

TEST(TrainerProgram, RecomputationThatTheModelTurnsOn_IsRead) {
  EXPECT_EQ(run("", "model.gradient_checkpointing_enable()\n" + kArguments).draft.recompute,
            plan::Recompute::full);
  EXPECT_NE(run("", "if maybe():\n    model.gradient_checkpointing_enable()\n" + kArguments)
                .draft.recompute,
            plan::Recompute::full);
}

// One process that sees two GPUs keeps half of the layers on each.
TEST(TrainerProgram, LayersSpreadOverGpus_AreOneProcess) {
  const PlanFile plan = read_any_plan(
      "CUDA_VISIBLE_DEVICES=0,1 python train.py --model_name_or_path Qwen/Qwen2-0.5B "
      "--per_device_train_batch_size 4 --gradient_accumulation_steps 2\n",
      "run.sh",
      repository({{"train.py",
                   "device_map: str = field(default='auto')\n"
                   "m = AutoModelForCausalLM.from_pretrained(n, device_map='auto')\n"}}));
  ASSERT_TRUE(plan.draft.shape.has_value());
  EXPECT_EQ(plan.draft.shape->gpus, 1);
  EXPECT_THAT(plan.findings, left_out("spreads the layers over 2 GPUs"));
}

// Hydra's overrides have the settings of the trainer under names of the program's own.
TEST(TrainerProgram, OverridesOfItsOwn_AreReadByTheirLastNames) {
  const PlanFile plan = read_any_plan(
      "accelerate launch --config_file zero3.yaml --num_processes 4 --module src.tune -- "
      "model=large "
      "sft.per_device_train_batch_size=1 sft.max_length=4096 sft.gradient_accumulation_steps=8\n",
      "run.sh", refuse_file);
  EXPECT_THAT(plan.draft.micro_batch, Optional(1));
  EXPECT_THAT(plan.draft.accumulation, Optional(8));
  EXPECT_THAT(plan.draft.sequence, Optional(4096));
}

TEST(TrainerProgram, ModelsOfItsOwnNames_AreOneTrainedAndOthersNamed) {
  const PlanFile plan = read_any_plan(
      "deepspeed --num_gpus 8 --module src.train --text_model_name_or_path Qwen/Qwen2-7B "
      "--other_model_name_or_path my/encoder --per_device_train_batch_size 2 --bf16\n",
      "run.sh", refuse_file);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen2-7b");
  EXPECT_THAT(plan.findings, left_out("without this one"));
}

// accelerate fills "auto" with the settings of its plugin, which moves nothing.
TEST(TrainerProgram, DevicesOfOffloadThatAreAuto_AreNone) {
  const PlanFile plan = read_any_plan(
      "deepspeed --num_gpus 2 train.py --model_name_or_path Qwen/Qwen2-0.5B --deepspeed z.json "
      "--per_device_train_batch_size 1 --bf16\n",
      "run.sh",
      repository({{"z.json",
                   "{\"zero_optimization\": {\"stage\": 3, \"offload_optimizer\": {\"device\": "
                   "\"auto\"}, \"offload_param\": {\"device\": \"auto\"}}}"}}));
  EXPECT_THAT(plan.draft.zero, Optional(3));
  EXPECT_EQ(plan.draft.offload_optimizer, std::nullopt);
  EXPECT_NE(plan.draft.offload_parameters, true);
}

// PEFT turns recomputation on if the weights have few bits, and casts others to fp32.
TEST(TrainerProgram, PreparationForFewBits_DependsOnTheBits) {
  const auto plan_of = [](const std::string& loads, const std::string& prepares) {
    return run("", "m = AutoModelForCausalLM.from_pretrained(n" + loads +
                       ")\nm = prepare_model_for_" + prepares +
                       "\nm = get_peft_model(m, LoraConfig(r=8))\n")
        .draft;
  };
  const Draft bits = plan_of(", load_in_8bit=True", "int8_training(m)");
  EXPECT_EQ(bits.recompute, plan::Recompute::full);
  EXPECT_EQ(bits.base_dtype, plan::BaseDtype::int8);
  const Draft off =
      plan_of(", load_in_8bit=True", "kbit_training(m, use_gradient_checkpointing=False)");
  EXPECT_NE(off.recompute, plan::Recompute::full);
  const Draft whole = plan_of(", torch_dtype=torch.float16", "kbit_training(m)");
  EXPECT_NE(whole.recompute, plan::Recompute::full);
  EXPECT_EQ(whole.base_dtype, plan::BaseDtype::fp32);
}

TEST(TrainerProgram, OptionInAList_DecidesABranch) {
  const std::string code =
      "@dataclass\nclass TrainingArguments(HFArguments):\n    bits: int = field(default=16)\n"
      "if training_args.bits in [4, 8]:\n"
      "    model = prepare_model_for_kbit_training(model)\n";
  EXPECT_NE(run("", code).draft.recompute, plan::Recompute::full);
}

TEST(TrainerProgram, FrozenBackbone_IsReported) {
  EXPECT_THAT(
      run("", "for p in model.base_model.parameters():\n    p.requires_grad = False\n" + kArguments)
          .findings,
      left_out("freezes model.base_model"));
  EXPECT_THAT(
      run("", "for p in vision_tower.parameters():\n    p.requires_grad = False\n" + kArguments)
          .findings,
      Not(left_out("freezes")));
}

// transformers has no fused attention for LLaMA before 4.36.
TEST(TrainerProgram, PinnedReleases_HaveTheirDefaults) {
  const auto plan_of = [](const std::string& requirements, const std::string& code) {
    return read_any_plan(
        "torchrun --nproc_per_node 2 train.py --model_name_or_path Qwen/Qwen2-0.5B "
        "--per_device_train_batch_size 3 --bf16 True\n",
        "run.sh", repository({{"train.py", code}, {"requirements.txt", requirements}}));
  };
  const PlanFile old = plan_of("torch\ntransformers==4.28.1\n", kArguments);
  EXPECT_THAT(old.draft.attention, Optional(plan::AttentionKernel::unfused));
  EXPECT_THAT(old.findings, assumes("pins transformers 4.28.1"));
  EXPECT_EQ(plan_of("transformers==4.40.0\n", kArguments).draft.attention, std::nullopt);
  EXPECT_EQ(plan_of("transformers==4.28.1\n", "import flash_patch\n" + kArguments).draft.attention,
            std::nullopt);
  EXPECT_EQ(plan_of("sentence-transformers==2.2\n", kArguments).draft.attention, std::nullopt);
}

// TRL loads a model that it is given by its name in fp32.
TEST(TrainerProgram, NameForTheTrainer_IsLoadedInFp32) {
  const PlanFile plan = read(
      "c = GRPOConfig(per_device_train_batch_size=4, bf16=True)\n"
      "t = GRPOTrainer(model='Qwen/Qwen2-0.5B', args=c, peft_config=LoraConfig(r=8))\n");
  EXPECT_EQ(plan.draft.base_dtype, plan::BaseDtype::fp32);
}

TEST(TrainerProgram, FirstArgument_IsTheModel) {
  const PlanFile plan = read_any_plan(
      "accelerate launch --config_file a.yaml train_grpo.py \"/models/Qwen2.5-3B\" "
      "--per_device_train_batch_size 2\n",
      "run.sh",
      repository({{"train_grpo.py",
                   "name = sys.argv[1] if len(sys.argv) > 1 else 'x'\n"
                   "m = AutoModelForCausalLM.from_pretrained(name)\n"}}));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen2.5-3b");
}

TEST(TrainerProgram, ConfigOfHydra_IsRead) {
  const PlanFile plan = read_any_plan(
      "accelerate launch --num_processes 2 --config_file a.yaml ./run_sft.py --config-name "
      "sft.yaml\n",
      "run.sh",
      repository({{"run_sft.py",
                   "@hydra.main(version_base=None, config_path='./configs')\n"
                   "def main(cfg):\n    tuning = cfg.training\n"
                   "    a = SFTConfig(per_device_train_batch_size=tuning.batch, "
                   "max_length=tuning.length)\n"},
                  {"configs/sft.yaml", "training: {batch: 3, length: 512}\n"}}));
  EXPECT_THAT(plan.draft.micro_batch, Optional(3));
  EXPECT_THAT(plan.draft.sequence, Optional(512));
}

TEST(TrainerProgram, HelperThatLoadsTheModel_IsFollowed) {
  const PlanFile plan = read(
      "from common import load_unsloth_model\n"
      "m = load_unsloth_model(model_name='Qwen/Qwen2-0.5B', rank=16)\n"
      "c = GRPOConfig(per_device_train_batch_size=2)\n",
      repository(
          {{"common.py",
            "def load_unsloth_model(model_name: str, rank: int, load_in_4bit: bool = True):\n"
            "    m = FastLanguageModel.from_pretrained(model_name=model_name, "
            "load_in_4bit=load_in_4bit)\n"
            "    return FastLanguageModel.get_peft_model(m, r=rank)\n"}}));
  EXPECT_THAT(plan.draft.lora_rank, Optional(16));
  EXPECT_EQ(plan.draft.base_dtype, plan::BaseDtype::nf4);
  EXPECT_EQ(plan.draft.recompute, plan::Recompute::full);
}

TEST(TrainerProgram, AbbreviatedFlag_IsSpelledOut) {
  const PlanFile plan = read_any_plan(
      "torchrun --nproc_per_node 2 train.py --model_name_or_path Qwen/Qwen2-0.5B "
      "--per_device_train_batch 2 --gradient_accumulation_steps 4 --bf16\n",
      "run.sh", refuse_file);
  EXPECT_THAT(plan.draft.micro_batch, Optional(2));
}

// MindSpeed-MM's trainer for FSDP takes one YAML file, whose aliases are values of other keys.
TEST(MindSpeedMm, RecipeForFsdp_IsRead) {
  const std::string recipe =
      "parallel:\n  tensor_parallel_size: 1\n  fully_shard_parallel_size: auto\n"
      "  fsdp_plan: {param_dtype: bf16, reduce_dtype: fp32}\n  recompute: true\n"
      "  ulysses_parallel_size: 1\n  expert_parallel_size: 4\n"
      "data:\n  dataset_param:\n    preprocess_parameters:\n"
      "      model_name_or_path: &MODEL /data/Qwen3-30B-A3B\n"
      "    basic_parameters: {cutoff_len: 1024}\n"
      "model: {model_id: qwen3_moe, model_name_or_path: *MODEL}\n"
      "training: {micro_batch_size: 2, gradient_accumulation_steps: 3, optimizer: adamw}\n";
  const PlanFile plan = read_any_plan(
      "torchrun --nproc_per_node 8 --nnodes 2 mindspeed_mm/fsdp/train/trainer.py conf/a.yaml\n",
      "run.sh", repository({{"conf/a.yaml", recipe}}));
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.zero, Optional(3));
  EXPECT_THAT(plan.draft.ep, Optional(4));
  EXPECT_THAT(plan.draft.micro_batch, Optional(2));
  EXPECT_THAT(plan.draft.accumulation, Optional(3));
  EXPECT_THAT(plan.draft.sequence, Optional(1024));
  EXPECT_EQ(plan.draft.recompute, plan::Recompute::full);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen3-30b-a3b");
}

TEST(TrainerProgram, BlanksAroundEqualsSigns_DoNotMatter) {
  const PlanFile plan = read(
      "m, t = FastLanguageModel.from_pretrained(model_name = \"Qwen/Qwen2-0.5B\", "
      "load_in_4bit = True)\n"
      "m = FastLanguageModel.get_peft_model(m, r = 16)\n" +
      kArguments);
  EXPECT_EQ(plan.draft.base_dtype, plan::BaseDtype::nf4);
  EXPECT_THAT(plan.draft.lora_rank, Optional(16));
}

// The loop runs before TRL's trainer adds adapters, so that the frozen weights are fp32.
TEST(TrainerProgram, CastBeforeAdapters_IsThatOfTheFrozenWeights) {
  const PlanFile plan = read(
      "m = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2-0.5B', torch_dtype=torch.bfloat16)\n"
      "for p in filter(lambda p: p.requires_grad, m.parameters()):\n"
      "    p.data = p.data.to(torch.float32)\n"
      "a = DPOConfig(per_device_train_batch_size=2, bf16=True)\n"
      "t = DPOTrainer(m, args=a, peft_config=LoraConfig(r=8))\n");
  EXPECT_EQ(plan.draft.base_dtype, plan::BaseDtype::fp32);
}

TEST(TrlYaml, FileWithoutAModel_IsRead) {
  const PlanFile plan = read_any_plan(
      "per_device_train_batch_size: 1\ngradient_accumulation_steps: 4\nmax_seq_length: 16384\n"
      "use_peft: true\nlora_r: 16\nload_in_4bit: true\nbf16: true\n",
      "sft.yaml", refuse_file);
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.sequence, Optional(16384));
  EXPECT_EQ(plan.draft.base_dtype, plan::BaseDtype::nf4);
}

}  // namespace trainer_program_test
}  // namespace rankwright::importer
