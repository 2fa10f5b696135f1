#include <fmt/format.h>
#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_format.h"
#include "tests/support/left_out.h"

namespace rankwright::importer {
namespace fine_tuning_test {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Optional;

PlanFile read(std::string text, const FileReader& files = refuse_file) {
  return read_any_plan(std::move(text), "conf/sft.yaml", files);
}

const std::string kFactory =
    "model_name_or_path: meta-llama/Meta-Llama-3.1-8B-Instruct\nstage: sft\ndo_train: true\n"
    "cutoff_len: 4096\nper_device_train_batch_size: 2\ngradient_accumulation_steps: 4\n"
    "bf16: true\ndeepspeed: ds_z3.json\n";

TEST(FineTuning, ReadsLlamaFactory_AndItsDeepSpeedConfig) {
  const PlanFile plan = read(kFactory + "finetuning_type: full\n",
                             [](const std::string& path) -> Result<std::string> {
                               if (path != "conf/ds_z3.json") return refuse_file(path);
                               return "{\"zero_optimization\": {\"stage\": 3}, \"bf16\": "
                                      "{\"enabled\": \"auto\"}, "
                                      "\"train_batch_size\": \"auto\"}";
                             });
  EXPECT_EQ(plan.format->name, "fine-tuning");
  EXPECT_TRUE(plan.findings.empty()) << plan.findings[0].detail;
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "llama-3.1-8b");
  EXPECT_THAT(plan.draft.zero, Optional(3));
  EXPECT_THAT(plan.draft.micro_batch, Optional(2));
  EXPECT_THAT(plan.draft.sequence, Optional(4096));
  EXPECT_THAT(plan.draft.recompute, Optional(plan::Recompute::full));
  EXPECT_THAT(plan.draft.target, Optional(rules::Target::deepspeed));
  Draft draft = plan.draft;
  draft.world = 8;
  EXPECT_EQ(resolve(draft).job.global_batch, 64);  // 2 x 4 x 8
}

TEST(FineTuning, MissingDeepSpeedConfig_IsTakenByItsName) {
  const PlanFile plan = read(kFactory + "finetuning_type: full\n");
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].code, "RW0615");
  EXPECT_THAT(plan.draft.zero, Optional(3));
}

// LLaMA-Factory trains them: no error.
TEST(FineTuning, OtherAdapters_AreEstimatedAsLora) {
  const PlanFile oft = read(kFactory + "finetuning_type: oft\n");
  EXPECT_THAT(oft.findings, left_out("oft: estimated with the adapters of LoRA"));
  EXPECT_THAT(oft.draft.lora_rank, Optional(8));
}

// LLaMA-Factory adapts all linear layers by default, with rank 8.
TEST(FineTuning, LoraOfLlamaFactory) {
  const PlanFile plan = read(kFactory + "finetuning_type: lora\n");
  EXPECT_THAT(plan.draft.lora_rank, Optional(8));
  EXPECT_THAT(plan.draft.lora_modules, Optional(plan::LoraModules{}));
  EXPECT_EQ(resolve(plan.draft).job.grad_dtype, plan::Dtype::fp32);
  const PlanFile stated = read(kFactory +
                               "finetuning_type: lora\nlora_rank: 64\nlora_target: q_proj,v_proj\n"
                               "quantization_bit: 4\n");
  EXPECT_THAT(stated.draft.lora_rank, Optional(64));
  EXPECT_EQ(show(*stated.draft.lora_modules, " "), "q_proj v_proj");
  EXPECT_THAT(stated.draft.base_dtype, Optional(plan::BaseDtype::nf4));
}

// LLaMA-Factory's freeze trains the last layers, two unless the file says otherwise, and neither
// embedding nor head.
TEST(FineTuning, FreezeOfLlamaFactory) {
  const PlanFile plan = read(kFactory + "finetuning_type: freeze\n");
  ASSERT_TRUE(plan.draft.frozen.has_value());
  EXPECT_EQ(show(*plan.draft.frozen), "embedding, layers 0-29, head");
  EXPECT_FALSE(plan.draft.lora_rank.has_value());
  const model::Model model = resolve(plan.draft).model;
  EXPECT_EQ(model.layer(29).training, model::Training::forward_only);
  EXPECT_EQ(model.layer(30).training, model::Training::full);
  const PlanFile first = read(kFactory +
                              "finetuning_type: freeze\nfreeze_trainable_layers: -4\n"
                              "freeze_extra_modules: embed_tokens,lm_head\n");
  EXPECT_EQ(show(*first.draft.frozen), "layers 4-31");
  const PlanFile modules =
      read(kFactory + "finetuning_type: freeze\nfreeze_trainable_modules: self_attn\n");
  ASSERT_FALSE(modules.findings.empty());
  EXPECT_THAT(modules.findings.back().detail, HasSubstr("estimated as trained"));
}

// The Trainer reduces gradients in the last microbatch of a step only, unless the file says
// otherwise.
TEST(FineTuning, SyncOfEachBatch) {
  const std::string full = kFactory + "finetuning_type: full\n";
  const auto accumulation = [](const PlanFile& plan) {
    plan::Software software;
    for (const plan::Software& row : plan::frameworks())
      if (row.name == "transformers") software = row;
    Draft draft = plan.draft;
    draft.framework = software;
    return resolve(draft).software.accumulation;
  };
  EXPECT_EQ(accumulation(read(full)), plan::Accumulation::trained);
  EXPECT_EQ(accumulation(read(full + "accelerator_config:\n  gradient_accumulation_kwargs:\n"
                                     "    sync_each_batch: true\n")),
            plan::Accumulation::shards);
}

// A device's batch counts pairs, of two sequences each. LLaMA-Factory's own loss computes
// log-probabilities from all logits.
TEST(FineTuning, PreferencesOfLlamaFactory) {
  std::string text = kFactory + "finetuning_type: full\n";
  text.replace(text.find("stage: sft"), 10, "stage: dpo");
  const PlanFile plan = read(text);
  EXPECT_THAT(plan.draft.method, Optional(plan::Method::dpo));
  EXPECT_THAT(plan.draft.ref_model, Optional(true));
  EXPECT_THAT(plan.draft.micro_batch, Optional(4));
  EXPECT_EQ(resolve(plan.draft).software.loss, plan::Loss::log_probs);
  const PlanFile simple = read(text + "pref_loss: simpo\n");
  EXPECT_THAT(simple.draft.ref_model, Optional(false));
}

// LLaMA-Factory turns off the fused output head in stages that need logits, and the reader says so.
TEST(FineTuning, LigerOfLlamaFactory_DependsOnTheStage) {
  const std::string liger = "finetuning_type: full\nenable_liger_kernel: true\n";
  EXPECT_EQ(resolve(read(kFactory + liger).draft).software.loss, plan::Loss::fused_linear);
  std::string text = kFactory + liger;
  text.replace(text.find("stage: sft"), 10, "stage: dpo");
  const PlanFile pairs = read(text);
  EXPECT_EQ(resolve(pairs.draft).software.loss, plan::Loss::log_probs);
  ASSERT_EQ(pairs.findings.size(), 2u);  // the other is that the DeepSpeed config is not there
  EXPECT_THAT(pairs.findings[0].detail + pairs.findings[1].detail,
              HasSubstr("turns off Liger's fused loss"));
}

TEST(FineTuning, QloraOfAxolotl) {
  const PlanFile plan = read(
      "base_model: Qwen/Qwen3-8B\nsequence_len: 2048\ndatasets: []\nload_in_4bit: true\n"
      "adapter: qlora\nlora_r: 32\nlora_target_modules:\n  - q_proj\n  - down_proj\n"
      "micro_batch_size: 1\noptimizer: paged_adamw_8bit\n");
  EXPECT_TRUE(plan.findings.empty() || plan.findings[0].severity != Severity::error);
  const plan::Job job = resolve(plan.draft).job;
  EXPECT_EQ(job.lora_rank, 32);
  EXPECT_EQ(show(job.lora_modules, " "), "q_proj down_proj");
  EXPECT_EQ(job.base_dtype, plan::BaseDtype::nf4);
  EXPECT_EQ(job.optimizer, plan::Optimizer::adam_8bit);
}

// PEFT matches the names of layers with a pattern.
TEST(FineTuning, ReadsThePatternOfAdaptedLayers) {
  const auto show_modules = [](const std::string& pattern) {
    const PlanFile plan = read(
        "base_model: Qwen/Qwen3-8B\nsequence_len: 2048\ndatasets: []\nadapter: lora\nlora_r: 8\n"
        "micro_batch_size: 1\nlora_target_modules: '" +
        pattern + "'\n");
    return show(resolve(plan.draft).job.lora_modules, " ");
  };
  EXPECT_EQ(show_modules("model.layers.[\\d]+.(mlp|self_attn).(q|v|down)_proj"),
            "q_proj v_proj down_proj");
  EXPECT_EQ(show_modules("(?:.*?(?:mlp|attn).*?(?:k_proj|up_proj)).*?"), "k_proj up_proj");
}

// PEFT adapts q_proj and v_proj of a Llama if nothing is stated.
TEST(FineTuning, TrlWithPeft) {
  const std::string trl =
      "model_name_or_path: meta-llama/Llama-3.1-8B\nper_device_train_batch_size: 1\n"
      "max_length: 2048\nbf16: true\n";
  const PlanFile plan = read(trl + "use_peft: true\n");
  EXPECT_EQ(show(*plan.draft.lora_modules, " "), "q_proj v_proj");
  // Details of adapters without adapters have no effect.
  const PlanFile full = read(trl + "use_peft: false\nlora_r: 16\nload_in_4bit: true\n");
  EXPECT_EQ(full.draft.lora_rank, std::nullopt);
  EXPECT_EQ(full.draft.base_dtype, std::nullopt);
}

TEST(FineTuning, ReadsTheDegreesOfAxolotl) {
  const PlanFile plan = read(
      "base_model: Qwen/Qwen3-8B\nsequence_len: 8192\ndatasets:\n  - path: some/data\n"
      "dp_shard_size: 2\ncontext_parallel_size: 2\ntensor_parallel_size: 2\nadapter:\n"
      "fsdp_version: 2\nfsdp_config: {offload_params: false, reshard_after_forward: true}\n"
      "gradient_accumulation_steps: 1\nmicro_batch_size: 1\noptimizer: adamw_torch_fused\n"
      "bf16: true\ngradient_checkpointing: true\n");
  EXPECT_TRUE(plan.findings.empty()) << plan.findings[0].detail;
  const rankwright::plan::TrainingConfig config = resolve(plan.draft);
  EXPECT_EQ(config.world, 8);
  EXPECT_EQ(config.model.name, "qwen3-8b");
  EXPECT_EQ(config.plan.zero, 3);
  EXPECT_EQ(config.plan.cp, 2);
  EXPECT_EQ(config.plan.recompute, plan::Recompute::full);
  EXPECT_EQ(config.job.optimizer, plan::Optimizer::adam);
}

// TRL's files do not name the method: completions are those of GRPO, another penalty that of DPO.
TEST(FineTuning, MethodOfTrl) {
  const std::string text =
      "model_name_or_path: Qwen/Qwen3-8B\nper_device_train_batch_size: 3\nbf16: true\n";
  const PlanFile dpo = read(text + "beta: 0.1\nmax_length: 1024\n");
  EXPECT_THAT(dpo.draft.method, Optional(plan::Method::dpo));
  EXPECT_THAT(dpo.draft.ref_model, Optional(true));
  EXPECT_THAT(dpo.draft.micro_batch, Optional(6));
  const PlanFile grpo = read(text + "max_completion_length: 512\nmax_prompt_length: 256\n");
  EXPECT_THAT(grpo.draft.loss_tokens, Optional(512));  // logits_to_keep
  EXPECT_THAT(grpo.draft.method, Optional(plan::Method::grpo));
  EXPECT_THAT(grpo.draft.ref_model, Optional(false));
  EXPECT_THAT(grpo.draft.sequence, Optional(768));
  EXPECT_EQ(read(text).draft.method, std::nullopt);
}

TEST(FineTuning, IsRecognizedOnStandardInput) {
  const PlanFile plan = read_any_plan(
      "{base_model: NousResearch/Llama-3.1-8B, sequence_len: 4096, datasets: [], rl: dpo}", "-",
      refuse_file);
  EXPECT_EQ(plan.format->name, "fine-tuning");
  EXPECT_THAT(plan.draft.sequence, Optional(4096));
  EXPECT_THAT(plan.draft.method, Optional(plan::Method::dpo));
}

TEST(FineTuning, UnknownModel_LeavesItOpen) {
  const PlanFile plan = read(
      "model_name_or_path: someone/new-model-9b\nper_device_train_batch_size: 4\n"
      "gradient_accumulation_steps: 2\nmax_seq_length: 2048\nbf16: true\n");
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_THAT(plan.findings, assumes("the shapes of someone/new-model-9b"));
  EXPECT_EQ(plan.draft.model, std::nullopt);
  EXPECT_EQ(plan.draft.zero, std::nullopt);
  ASSERT_EQ(plan.open.size(), 1u);  // accelerate's config may shard
  EXPECT_EQ(plan.open[0].key, "parallelism.zero_stage");
}

TEST(FineTuning, FusedLossAndPromptsAreRead) {
  const PlanFile plan = read_any_plan(
      "model_name_or_path: Qwen/Qwen2.5-7B-Instruct\nper_device_train_batch_size: 4\n"
      "max_prompt_length: 512\nmax_completion_length: 1024\nuse_liger_kernel: true\n"
      "use_vllm: true\nattn_implementation: eager\n",
      "grpo.yaml", refuse_file);
  EXPECT_EQ(plan.draft.sequence, 1536);
  EXPECT_EQ(plan.draft.loss, plan::Loss::fused_linear);
  EXPECT_EQ(plan.draft.attention, plan::AttentionKernel::unfused);
  EXPECT_THAT(plan.findings, left_out("generation"));
}

// The weights of a run without DeepSpeed and FSDP are those that the file loads, and PyTorch's
// optimizers make their states in the format of the weights.
TEST(FineTuning, WeightsLoadedIn16Bits_HaveStatesIn16Bits) {
  const std::string text =
      "model_name_or_path: Qwen/Qwen2.5-7B\nper_device_train_batch_size: 1\nmax_length: 2048\n"
      "bf16: true\n";
  EXPECT_FALSE(read(text).draft.master_dtype.has_value());
  for (const char* const key : {"torch_dtype: bfloat16\n", "dtype: bfloat16\n"}) {
    const Draft bare = read(text + key).draft;
    EXPECT_THAT(bare.master_dtype, Optional(plan::Dtype::bf16)) << key;
    EXPECT_THAT(bare.moment_dtype, Optional(plan::Dtype::bf16)) << key;
    EXPECT_THAT(bare.grad_dtype, Optional(plan::Dtype::bf16)) << key;
    // FSDP makes fp32 copies of them, and adapters are kept in fp32.
    EXPECT_FALSE(read(text + key + "fsdp: full_shard\n").draft.master_dtype.has_value());
    EXPECT_FALSE(read(text + key + "use_peft: true\n").draft.master_dtype.has_value());
  }
  const std::string axolotl = "base_model: Qwen/Qwen2.5-7B\nsequence_len: 2048\nbf16: auto\n";
  EXPECT_THAT(read(axolotl).draft.master_dtype, Optional(plan::Dtype::bf16));
  EXPECT_FALSE(read(axolotl + "adapter: lora\n").draft.master_dtype.has_value());
}

TEST(FineTuning, SwitchesOfOptimizers_AreRead) {
  const std::string text = kFactory + "finetuning_type: full\n";
  EXPECT_THAT(read(text + "use_muon: true\n").draft.optimizer, Optional(plan::Optimizer::muon));
  EXPECT_FALSE(read(text + "use_muon: false\n").draft.optimizer.has_value());
  for (const char* const key : {"use_apollo: true\n", "use_adam_mini: true\n"}) {
    const PlanFile plan = read(text + key);
    ASSERT_EQ(plan.findings.size(), 2u) << key;  // the other is the DeepSpeed config
    EXPECT_EQ(plan.findings[0].code, "RW0601") << key;
  }
}

TEST(FineTuning, OlderNameOfLiger_IsRead) {
  EXPECT_THAT(read(kFactory + "finetuning_type: full\nuse_liger: true\n").draft.loss,
              Optional(plan::Loss::fused_linear));
}

// Embeddings and output heads that are trained beside adapters have gradients and states.
TEST(FineTuning, ModulesTrainedBesideAdapters_AreReported) {
  const std::string text = kFactory + "finetuning_type: lora\n";
  for (const char* const key : {"additional_target: embed_tokens,lm_head\n",
                                "lora_modules_to_save: [embed_tokens, lm_head]\n"}) {
    const PlanFile plan = read(text + key);
    ASSERT_FALSE(plan.findings.empty()) << key;
    EXPECT_EQ(plan.findings.back().code, "RW0601") << key;
  }
}

TEST(FineTuning, OffloadedActivations_AreRead) {
  const std::string text = kFactory + "finetuning_type: full\n";
  EXPECT_THAT(read(text + "activation_offloading: true\n").draft.offload_activations,
              Optional(true));
  EXPECT_THAT(read(text + "gradient_checkpointing: offload\n").draft.offload_activations,
              Optional(true));
}

PlanFile read_script(std::string text, const FileReader& files = refuse_file) {
  return read_any_plan(std::move(text), "run.sh", files);
}

// ms-swift trains adapters with recomputation unless told otherwise, and has configs of DeepSpeed
// of its own by name.
TEST(TrainerScript, ReadsSwift) {
  const PlanFile plan = read_script(
      "CUDA_VISIBLE_DEVICES=0,1,2,3 NPROC_PER_NODE=4 \\\nswift sft \\\n"
      "  --model Qwen/Qwen2.5-7B-Instruct --train_type lora --torch_dtype bfloat16 \\\n"
      "  --per_device_train_batch_size 2 --gradient_accumulation_steps $(expr 32 / $((2 * 2))) \\\n"
      "  --tensor_parallel_size 4 --max_length 4096 --deepspeed zero3\n");
  EXPECT_EQ(plan.format->name, "fine-tuning");
  EXPECT_TRUE(plan.findings.empty()) << plan.findings[0].detail;
  const plan::TrainingConfig config = resolve(plan.draft);
  EXPECT_EQ(config.model.name, "qwen2.5-7b");
  EXPECT_EQ(config.world, 4);
  EXPECT_EQ(config.job.global_batch, 64);  // 2 x 8 x 4
  EXPECT_EQ(config.job.sequence, 4096);
  EXPECT_EQ(config.plan.zero, 3);
  EXPECT_THAT(plan.draft.lora_rank, Optional(8));
  EXPECT_THAT(plan.draft.recompute, Optional(plan::Recompute::full));
  EXPECT_THAT(plan.draft.param_dtype, Optional(plan::Dtype::bf16));
}

TEST(TrainerScript, CompletionsOfSwift_AddToThePrompt) {
  const PlanFile plan = read_script(
      "NPROC_PER_NODE=8 swift rlhf --rlhf_type grpo --model Qwen/Qwen2.5-7B-Instruct \\\n"
      "  --train_type full --max_length 1024 --max_completion_length 2048 \\\n"
      "  --per_device_train_batch_size 2\n");
  EXPECT_THAT(plan.draft.method, Optional(plan::Method::grpo));
  EXPECT_THAT(plan.draft.sequence, Optional(3072));
  EXPECT_THAT(plan.findings,  // the sum is named
              Contains(Field(&Diagnostic::detail, HasSubstr("a prompt of up to 1,024"))));
  EXPECT_FALSE(plan.draft.lora_rank.has_value());
}

TEST(TrainerScript, ReadsTheFlagsOfTheTrainer) {
  const PlanFile plan = read_script(
      "torchrun --nproc_per_node=4 --master_port=1 train.py \\\n"
      "  --model_name_or_path meta-llama/Llama-2-7b-hf --bf16 True \\\n"
      "  --per_device_train_batch_size 4 --gradient_accumulation_steps 8 \\\n"
      "  --model_max_length 2048 --gradient_checkpointing True \\\n"
      "  --fsdp \"shard_grad_op auto_wrap\"\n"
      "python eval.py --model_name_or_path other --per_device_train_batch_size 1\n");
  const plan::TrainingConfig config = resolve(plan.draft);
  EXPECT_EQ(config.model.name, "llama-2-7b");
  EXPECT_EQ(config.world, 4);
  EXPECT_EQ(config.plan.zero, 2);
  EXPECT_EQ(config.job.global_batch, 128);  // 4 x 8 x 4
  EXPECT_EQ(config.job.sequence, 2048);
  EXPECT_EQ(config.plan.recompute, plan::Recompute::full);
}

TEST(TrainerScript, GpusOfDeepSpeedsLauncher_AndAdaptersByASwitch) {
  const PlanFile plan = read_script(
      "deepspeed --include localhost:0,2,4,6 train.py --lora_enable True --lora_r 128 \\\n"
      "  --deepspeed ./scripts/zero2_offload.json --model_name_or_path lmsys/vicuna-7b \\\n"
      "  --per_device_train_batch_size 16 --bf16 True\n");
  EXPECT_EQ(resolve(plan.draft).world, 4);
  EXPECT_THAT(plan.draft.lora_rank, Optional(128));
  EXPECT_THAT(plan.draft.zero, Optional(2));
  EXPECT_THAT(plan.draft.offload_optimizer, Optional(1.0));
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_THAT(plan.findings[0].detail, HasSubstr("ZeRO-2 with offloading, by its name"));
}

// Programs are started from the root of a repository, and their files name others from there.
TEST(FineTuning, DeepSpeedConfig_IsFoundFromAFolderAbove) {
  const PlanFile plan = read_any_plan(kFactory + "finetuning_type: full\n", "repo/train/a/sft.yaml",
                                      [](const std::string& path) -> Result<std::string> {
                                        if (path != "repo/train/a/../../ds_z3.json")
                                          return refuse_file(path);
                                        return "{\"zero_optimization\": {\"stage\": 1}}";
                                      });
  EXPECT_TRUE(plan.findings.empty()) << plan.findings[0].detail;
  EXPECT_THAT(plan.draft.zero, Optional(1));
}

// The names of checkpoints state the bits of frozen weights.
TEST(FineTuning, QuantizedCheckpoints) {
  const std::string rest =
      "finetuning_type: lora\nstage: sft\ncutoff_len: 2048\nper_device_train_batch_size: 1\n";
  const PlanFile four =
      read("model_name_or_path: TechxGenus/Meta-Llama-3-8B-Instruct-GPTQ\n" + rest);
  EXPECT_THAT(four.draft.base_dtype, Optional(plan::BaseDtype::nf4));
  EXPECT_TRUE(four.findings.empty());
  const PlanFile two = read("model_name_or_path: me/Meta-Llama-3-8B-AQLM-2Bit-1x16\n" + rest);
  EXPECT_THAT(two.draft.base_dtype, Optional(plan::BaseDtype::nf4));
  ASSERT_EQ(two.findings.size(), 1u);
  EXPECT_EQ(two.findings[0].code, "RW0601");
}

// axolotl's plugin is on unless its own key turns it off.
TEST(FineTuning, PluginOfCutCrossEntropy) {
  const std::string text =
      "base_model: Qwen/Qwen3-8B\nsequence_len: 2048\ndatasets: []\nmicro_batch_size: 1\n"
      "plugins:\n  - axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin\n";
  EXPECT_EQ(resolve(read(text).draft).software.loss, plan::Loss::fused_linear);
  EXPECT_NE(resolve(read(text + "cut_cross_entropy: false\n").draft).software.loss,
            plan::Loss::fused_linear);
}

// 96 sequences in micro-batches of 1, accumulated 3 times, are those of 32 ranks.
TEST(FineTuning, BatchOfAllRanks_DeterminesTheirNumber) {
  std::string text = kFactory + "finetuning_type: full\nglobal_batch_size: 96\n";
  text.replace(text.find("size: 2"), 7, "size: 1");
  text.replace(text.find("steps: 4"), 8, "steps: 3");
  EXPECT_EQ(resolve(read(text).draft).world, 32);
}

// FSDP's settings in a file that only a running shell knows.
TEST(TrainerScript, UnknownFileOfFsdp_IsFullSharding) {
  const PlanFile plan = read_script(
      "DIR=$(date)\nNPROC_PER_NODE=8 swift sft --model Qwen/Qwen3-8B --tuner_type full \\\n"
      "  --torch_dtype bfloat16 --fsdp $DIR/fsdp.json --per_device_train_batch_size 1\n");
  EXPECT_THAT(plan.draft.zero, Optional(3));
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].code, "RW0614");
}

const std::string kTrl =
    "train.py --model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 4 "
    "--max_seq_length 2048 ";

TEST(AccelerateLaunch, ConfigThatItNames_IsRead) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (path != "z3.yaml") return refuse_file(path);
    return "distributed_type: DEEPSPEED\ndeepspeed_config: {zero_stage: 3}\n"
           "mixed_precision: bf16\nnum_machines: 2\nnum_processes: 16\n";
  };
  const std::string script = "accelerate launch --config_file z3.yaml ";
  const PlanFile plan = read_any_plan(script + kTrl + "\n", "scripts/run.sh", files);
  EXPECT_THAT(plan.draft.zero, Optional(3));
  EXPECT_THAT(plan.draft.param_dtype, Optional(plan::Dtype::bf16));
  ASSERT_TRUE(plan.draft.shape.has_value());
  EXPECT_EQ(plan.draft.shape->nodes, 2);
  EXPECT_EQ(plan.draft.shape->gpus, 8);
  // Options override the config.
  const PlanFile four =
      read_any_plan(script + "--num_machines 1 --num_processes 4 " + kTrl + "\n", "run.sh", files);
  EXPECT_THAT(four.draft.zero, Optional(3));
  EXPECT_EQ(four.draft.shape->gpus, 4);
  // A name may state the stage.
  const PlanFile named = read_any_plan(
      "accelerate launch --config_file a/zero2.yaml " + kTrl + "\n", "run.sh", refuse_file);
  EXPECT_THAT(named.draft.zero, Optional(2));
  const PlanFile unknown = read_any_plan("accelerate launch --config_file a/b.yaml " + kTrl + "\n",
                                         "run.sh", refuse_file);
  EXPECT_THAT(unknown.draft.zero, Optional(0));
  EXPECT_EQ(unknown.findings[0].code, "RW0615");
}

TEST(AccelerateLaunch, OptionsAreRead) {
  const auto draft = [](const std::string& options) {
    return read_any_plan("accelerate  launch " + options + " " + kTrl + "\n", "run.sh", refuse_file)
        .draft;
  };
  EXPECT_THAT(draft("--use_deepspeed --zero_stage 3 --num_processes 4").zero, Optional(3));
  EXPECT_THAT(draft("--use_deepspeed --zero_stage 3 --num_processes 4").world, Optional(4));
  const Draft fsdp = draft("--use_fsdp --fsdp_sharding_strategy FULL_SHARD --mixed_precision bf16");
  EXPECT_THAT(fsdp.zero, Optional(3));
  EXPECT_THAT(fsdp.param_dtype, Optional(plan::Dtype::bf16));
  EXPECT_THAT(fsdp.grad_dtype, Optional(plan::Dtype::bf16));
  EXPECT_THAT(draft("--num_processes 2").zero, Optional(0));
}

// open-r1 and others: a launcher's config, and the program's settings in another file.
TEST(AccelerateLaunch, SettingsOfTheProgramInAFile_AreRead) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (path != "sft.yaml") return refuse_file(path);
    return "model_name_or_path: Qwen/Qwen2.5-7B\nper_device_train_batch_size: 16\n"
           "max_length: 8192\nbf16: true\n";
  };
  const PlanFile plan = read_any_plan(
      "accelerate launch --use_deepspeed --zero_stage 2 --num_processes 8 sft.py --config sft.yaml "
      "--per_device_train_batch_size 4\n",
      "run.sh", files);
  EXPECT_THAT(plan.draft.zero, Optional(2));
  EXPECT_THAT(plan.draft.micro_batch, Optional(4));  // the script overrides the file
  EXPECT_THAT(plan.draft.sequence, Optional(8192));
  ASSERT_TRUE(plan.draft.model.has_value());
}

TEST(TrainerScript, VisibleGpus_DetermineTheRanks) {
  const auto shape = [](const std::string& text) {
    return read_any_plan(text + kTrl + "\n", "run.sh", refuse_file).draft.shape;
  };
  ASSERT_TRUE(shape("CUDA_VISIBLE_DEVICES=7 python ").has_value());
  EXPECT_EQ(shape("CUDA_VISIBLE_DEVICES=7 python ")->gpus, 1);
  EXPECT_FALSE(shape("CUDA_VISIBLE_DEVICES=0,1 python ").has_value());  // as the program likes
  EXPECT_EQ(shape("export CUDA_VISIBLE_DEVICES=0,1,2\naccelerate launch ")->gpus, 3);
  EXPECT_FALSE(shape("CUDA_VISIBLE_DEVICES=$GPUS python ").has_value());
  EXPECT_EQ(shape("CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node 2 ")->gpus, 2);
  const PlanFile swift = read_any_plan(
      "CUDA_VISIBLE_DEVICES=0,1 swift sft --model Qwen/Qwen2.5-7B-Instruct --max_length 2048\n",
      "run.sh", refuse_file);
  ASSERT_TRUE(swift.draft.shape.has_value());
  EXPECT_EQ(swift.draft.shape->gpus, 1);  // one process, and a model spread over both
}

TEST(TrainerScript, SwitchesOfQlora_AndARankWithoutASwitch) {
  const auto plan = [](const std::string& flags) {
    return read_any_plan("torchrun --nproc_per_node 4 " + kTrl + flags + "\n", "run.sh",
                         refuse_file);
  };
  const Draft qlora = plan("--qlora --lora_r 16").draft;
  EXPECT_THAT(qlora.lora_rank, Optional(16));
  EXPECT_THAT(qlora.base_dtype, Optional(plan::BaseDtype::nf4));
  EXPECT_THAT(plan("--use_lora --q_lora").draft.base_dtype, Optional(plan::BaseDtype::nf4));
  const PlanFile off = plan("--lora_r 16");
  EXPECT_FALSE(off.draft.lora_rank.has_value());
  ASSERT_FALSE(off.findings.empty());
  EXPECT_THAT(off.findings, ::testing::Contains(::testing::Field(&Diagnostic::code, "RW0601")));
}

// Completions of GRPO: TRL removed the limit of prompts, and vLLM's length bounds both.
TEST(FineTuning, LengthOfPromptAndCompletion) {
  const std::string text =
      "model_name_or_path: Qwen/Qwen3-0.6B\nbf16: true\nper_device_train_batch_size: 8\n"
      "max_completion_length: 4096\n";
  EXPECT_THAT(read(text + "vllm_max_model_length: 12096\n").draft.sequence, Optional(12096));
  EXPECT_THAT(read(text + "max_prompt_length: 1024\n").draft.sequence, Optional(5120));
  const PlanFile open = read(text);
  EXPECT_THAT(open.draft.sequence, Optional(4608));
  EXPECT_FALSE(open.open.empty());
}

TEST(FineTuning, EmptyListOfFsdp_IsOff) {
  const std::string text =
      "base_model: meta-llama/Llama-2-7b-hf\nsequence_len: 2048\nmicro_batch_size: 1\n"
      "datasets: [{path: a}]\nbf16: true\n";
  EXPECT_EQ(read(text + "fsdp: []\n").draft.zero.value_or(0), 0);
  EXPECT_THAT(read(text + "fsdp: [full_shard]\n").draft.zero, Optional(3));
}

// Its name is known only when the script runs.
TEST(AccelerateLaunch, ConfigOfUnknownName_LeavesShardingOpen) {
  const PlanFile plan = read_any_plan(
      "accelerate launch --config_file ${FOO}/r.yaml --num_processes 8 " + kTrl + "\n", "run.sh",
      refuse_file);
  EXPECT_FALSE(plan.open.empty());
  EXPECT_TRUE(std::any_of(plan.findings.begin(), plan.findings.end(), [](const auto& found) {
    return found.detail.find("how states are sharded") != std::string::npos;
  }));
}

// Scripts of training programs name the model in ways of their own.
TEST(TrainerScript, NamesOfTheModel_AreRead) {
  for (const char* const flag : {"--model_name", "--model_path"}) {
    const PlanFile plan = read_script(std::string("torchrun --nproc_per_node 8 sft.py ") + flag +
                                      "=Qwen/Qwen2.5-32B-Instruct --block_size 4096 "
                                      "--per_device_train_batch_size 1\n");
    ASSERT_TRUE(plan.draft.model.has_value()) << flag;
    EXPECT_EQ(plan.draft.model->name, "qwen2.5-32b") << flag;
  }
}

TEST(TrainerScript, AdaptersWithThePrefixOfPeft_AreRead) {
  const PlanFile plan =
      read_script("torchrun --nproc_per_node 2 " + kTrl +
                  "--use_peft --peft_lora_r 32 --peft_target_modules q_proj o_proj embed_tokens\n");
  EXPECT_THAT(plan.draft.lora_rank, Optional(32));
  ASSERT_TRUE(plan.draft.lora_modules.has_value());
  EXPECT_EQ(show(*plan.draft.lora_modules, " "), "q_proj o_proj");
  const PlanFile folder = read_script("python " + kTrl + "--use_peft --peft_config_path lora\n");
  ASSERT_FALSE(folder.findings.empty());
  EXPECT_EQ(folder.findings[0].code, "RW0601");
}

// qlora.py adapts all linear layers of 4-bit weights unless told to train everything.
TEST(TrainerScript, ReadsQlora) {
  const std::string text =
      "python qlora.py --model_name_or_path huggyllama/llama-7b --bf16 --target_max_len 512 "
      "--per_device_train_batch_size 1 ";
  const PlanFile plan = read_script(text + "--lora_r 16\n");
  EXPECT_THAT(plan.draft.lora_rank, Optional(16));
  EXPECT_THAT(plan.draft.lora_modules, Optional(plan::LoraModules{}));
  EXPECT_THAT(plan.draft.base_dtype, Optional(plan::BaseDtype::nf4));
  EXPECT_THAT(plan.draft.sequence, Optional(1536));
  EXPECT_THAT(plan.draft.accumulation, Optional(16));
  EXPECT_THAT(read_script(text + "--bits 8\n").draft.base_dtype, Optional(plan::BaseDtype::int8));
  EXPECT_FALSE(read_script(text + "--full_finetune\n").draft.lora_rank.has_value());
}

TEST(FineTuning, LengthOfAxolotl_HasADefault) {
  const std::string text =
      "base_model: NousResearch/Meta-Llama-3.1-8B\nmodel_type: LlamaForCausalLM\ndatasets: []\n"
      "micro_batch_size: 2\n";
  const PlanFile plan = read(text);
  EXPECT_THAT(plan.draft.sequence, Optional(512));
  EXPECT_EQ(plan.where("model").line, 1);
  EXPECT_THAT(read(text + "sequence_len: 4096\n").draft.sequence, Optional(4096));
}

// The 32-bit optimizers of bitsandbytes have fp32 moments, whatever the format of the weights.
TEST(FineTuning, MomentsOfBitsandbytes_AreInFp32) {
  const PlanFile plan = read(
      "base_model: Qwen/Qwen3-8B\nsequence_len: 2048\ndatasets: []\nbf16: true\n"
      "micro_batch_size: 1\noptimizer: paged_adamw_32bit\n");
  EXPECT_THAT(plan.draft.master_dtype, Optional(plan::Dtype::bf16));
  EXPECT_THAT(plan.draft.moment_dtype, Optional(plan::Dtype::fp32));
}

TEST(FineTuning, PureBf16_HasGradientsInBf16) {
  std::string text = kFactory + "finetuning_type: full\npure_bf16: true\n";
  text.erase(text.find("deepspeed:"), std::string("deepspeed: ds_z3.json\n").size());
  EXPECT_THAT(read(text).draft.grad_dtype, Optional(plan::Dtype::bf16));
}

TEST(FineTuning, ModulesBesideAdapters_MatterWithAdaptersOnly) {
  const PlanFile plan = read(
      "model_name_or_path: Qwen/Qwen2.5-7B\nper_device_train_batch_size: 1\nmax_length: 2048\n"
      "gradient_checkpointing: true\nuse_peft: false\nlora_modules_to_save:\n  - score\n");
  EXPECT_TRUE(plan.findings.empty()) << plan.findings[0].detail;
}

TEST(AccelerateLaunch, DeepSpeedIsTheFramework) {
  const PlanFile plan = read_any_plan(
      "accelerate launch --use_deepspeed --zero_stage 0 --num_processes 4 " + kTrl + "--bf16\n",
      "run.sh", refuse_file);
  EXPECT_THAT(plan.draft.target, Optional(rules::Target::deepspeed));
  EXPECT_THAT(plan.draft.zero, Optional(0));
}

// A template, whose values another program fills in.
TEST(FineTuning, Placeholders_AreOpen) {
  const PlanFile plan = read(
      "model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\nfinetuning_type: full\nbf16: true\n"
      "cutoff_len: $cutoff_len\nper_device_train_batch_size: ${batch}\n");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_FALSE(plan.draft.sequence.has_value());
  ASSERT_EQ(plan.findings.size(), 2u);
  EXPECT_EQ(plan.findings[0].code, "RW0614");
  EXPECT_THAT(plan.findings[0].detail, HasSubstr("$batch"));
}

// Training programs name the switch of adapters in ways of their own.
TEST(TrainerScript, SwitchesOfAdapters_AreRead) {
  for (const char* const flag :
       {"--use_peft_lora True", "--lora_enabled true", "--low_rank_training True"}) {
    const Draft draft = read_script("torchrun --nproc_per_node 2 " + kTrl + flag + "\n").draft;
    EXPECT_THAT(draft.lora_rank, Optional(8)) << flag;
  }
  const Draft four = read_script("torchrun --nproc_per_node 2 " + kTrl +
                                 "--lora_enabled true --qlora_enabled true\n")
                         .draft;
  EXPECT_THAT(four.base_dtype, Optional(plan::BaseDtype::nf4));
  const Draft llava = read_script("deepspeed " + kTrl + "--lora_enable True\n").draft;
  EXPECT_THAT(llava.lora_rank, Optional(64));
  EXPECT_THAT(llava.lora_modules, Optional(plan::LoraModules{}));
}

// Nodes that only a running job knows are not one node.
TEST(TrainerScript, UnknownNodes_LeaveTheRanksOpen) {
  const PlanFile plan = read_script(
      "torchrun --nnodes=$SLURM_JOB_NUM_NODES --nproc_per_node=8 train.py --model_name_or_path "
      "Qwen/Qwen2.5-7B --per_device_train_batch_size 1 --model_max_length 1000 "
      "--seq_parallel_size 28\n");
  EXPECT_FALSE(plan.draft.shape.has_value());
  EXPECT_THAT(plan.draft.cp, Optional(28));
  EXPECT_THAT(plan.draft.sequence, Optional(1008));  // 18 x 56
}

TEST(TrainerScript, CommandsAfterTheTraining_AreNotRead) {
  const std::string train =
      "swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type full --max_length 3000 "
      "--per_device_train_batch_size 2\n";
  for (const std::string after : {"python tools/run_eval.py --model $OUT --bits 4\n",
                                  "python check.py --model out --max_length 10\n"}) {
    const Draft draft = read_script(train + after).draft;
    ASSERT_TRUE(draft.model.has_value()) << after;
    EXPECT_EQ(draft.model->name, "qwen2.5-7b");
    EXPECT_THAT(draft.sequence, Optional(3000));
    EXPECT_EQ(draft.base_dtype, std::nullopt);
  }
}

TEST(TrainerScript, OverridesOfANamedConfig_AreRead) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (path != "a.yaml") return refuse_file(path);
    return "model_name_or_path: Qwen/Qwen2.5-7B\nfinetuning_type: full\ncutoff_len: 900\n"
           "per_device_train_batch_size: 1\nbf16: true\n";
  };
  const Draft draft = read_script(
                          "accelerate launch --num_processes 4 src/train.py a.yaml dataset=b "
                          "per_device_train_batch_size=5 gradient_accumulation_steps=2\n"
                          "python infer.py --model_name_or_path out --cutoff_len 7\n",
                          files)
                          .draft;
  ASSERT_TRUE(draft.model.has_value());
  EXPECT_EQ(draft.model->name, "qwen2.5-7b");
  EXPECT_THAT(draft.micro_batch, Optional(5));
  EXPECT_THAT(draft.accumulation, Optional(2));
  EXPECT_THAT(draft.sequence, Optional(900));
}

TEST(TrainerScript, OtherNamesOfStepsAndLength_AreRead) {
  const Draft draft = read_script(
                          "torchrun --nproc_per_node 2 train.py --model_name_or_path "
                          "Qwen/Qwen2.5-7B --per_device_train_batch_size 3 --grad_accum_steps 4 "
                          "--max_len 700\n")
                          .draft;
  EXPECT_THAT(draft.accumulation, Optional(4));
  EXPECT_THAT(draft.sequence, Optional(700));
}

TEST(FineTuning, QuantizedCheckpointWithoutAdapters_IsReported) {
  const std::string text = "sequence_len: 1024\nbf16: true\nmicro_batch_size: 1\nbase_model: ";
  const auto reports = [&](const std::string& more) {
    const PlanFile plan = read(text + more);
    return std::count_if(plan.findings.begin(), plan.findings.end(),
                         [](const Diagnostic& one) { return one.code == "RW0601"; });
  };
  EXPECT_EQ(reports("a/Qwen2.5-7B-w4a16\n"), 1);
  EXPECT_EQ(reports("a/Qwen2.5-7B\n"), 0);
  for (const std::string key : {"model_id", "pretrained_model_name_or_path"})
    EXPECT_EQ(reports(fmt::format("a\n{}: a/Qwen2.5-7B-w4a16\n", key)), 1) << key;
  const PlanFile adapted = read(text + "a/Qwen2.5-7B-w4a16\nadapter: lora\nlora_r: 8\n");
  EXPECT_THAT(adapted.draft.base_dtype, Optional(plan::BaseDtype::nf4));
}

// The Trainer's default.
TEST(FineTuning, BatchOfADeviceAlone_IsThatOfAStep) {
  const std::string text =
      "model_name_or_path: Qwen/Qwen2.5-7B\nbf16: true\nmax_length: 1024\n"
      "per_device_train_batch_size: 4\n";
  EXPECT_THAT(read(text).draft.accumulation, Optional(1));
  const std::string script =
      "swift sft --model a --per_device_train_batch_size 2 --gradient_accumulation_steps "
      "$(count)\n";
  EXPECT_EQ(read_script(script).draft.accumulation, std::nullopt);
  EXPECT_THAT(read(text + "gradient_accumulation_steps: 6\n").draft.accumulation, Optional(6));
}

TEST(FineTuning, ConfigOfSwift_IsRead) {
  const PlanFile plan = read(
      "model: Qwen/Qwen2.5-7B-Instruct\ntuner_type: lora\ntorch_dtype: bfloat16\n"
      "per_device_train_batch_size: 2\ngradient_accumulation_steps: 8\ndeepspeed: zero2\n"
      "max_length: 2048\nmodel_name: a-bot\n");
  EXPECT_EQ(plan.format->name, "fine-tuning");
  EXPECT_TRUE(plan.findings.empty()) << plan.findings[0].detail;
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen2.5-7b");
  EXPECT_THAT(plan.draft.lora_modules, Optional(plan::LoraModules{}));
  EXPECT_THAT(plan.draft.zero, Optional(2));
  EXPECT_THAT(plan.draft.recompute, Optional(plan::Recompute::full));
}

// Scripts of LLaVA's descendants train a part of a model with an encoder.
TEST(TrainerScript, FrozenPartsAndEncoders_AreReported) {
  const auto reported = [](std::string_view flags) {
    return read_script(
               "deepspeed train_mem.py --model_name_or_path a/b --bf16 True "
               "--per_device_train_batch_size 8 --gradient_accumulation_steps 1 "
               "--model_max_length 2048 --gradient_checkpointing True " +
               std::string(flags) + "\n")
        .findings.size();
  };
  const std::size_t plain = reported("");
  for (const char* const flag :
       {"--vision_tower openai/clip", "--tune_mm_mlp_adapter True", "--freeze_backbone True",
        "--mm_tunable_parts mm_mlp_adapter", "--tune_mm_llm False", "--teacher_model a/c"})
    EXPECT_EQ(reported(flag), plain + 1) << flag;
  for (const char* const flag : {"--tune_mm_mlp_adapter False", "--freeze_backbone False",
                                 "--mm_tunable_parts mm_mlp_adapter,mm_language_model"})
    EXPECT_EQ(reported(flag), plain) << flag;
}

const std::string kTemplate =
    "model_name_or_path: meta-llama/Meta-Llama-3-8B\nstage: dpo\nfinetuning_type: full\n"
    "cutoff_len: $length\nper_device_train_batch_size: $batch\n"
    "gradient_accumulation_steps: 4\nbf16: true\n";

// An evaluation afterwards has flags of its own.
TEST(TrainerScript, TemplateThatTheScriptFills_IsItsConfig) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (path != "t.yaml") return refuse_file(path);
    return kTemplate;
  };
  const PlanFile plan = read_script(
      "export batch=2\nexport length=2048\nenvsubst < t.yaml > logs/x.yaml\n"
      "llamafactory-cli train logs/x.yaml\n"
      "accelerate launch -m lm_eval --model hf --tasks gsm8k --batch_size 128\n",
      files);
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.sequence, Optional(2048));
  EXPECT_THAT(plan.draft.micro_batch, Optional(4));  // two pairs
  EXPECT_THAT(plan.draft.accumulation, Optional(4));
}

TEST(TrainerScript, ConfigOfAxolotl_IsRead) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (path != "a.yaml") return refuse_file(path);
    return "base_model: Qwen/Qwen2.5-7B\nmicro_batch_size: 2\ngradient_accumulation_steps: 8\n"
           "sequence_len: 4096\nbf16: auto\ngradient_checkpointing: true\ndatasets: []\n";
  };
  for (const char* const command :
       {"axolotl train a.yaml\n",
        "accelerate launch --num_processes 4 -m axolotl.cli.train a.yaml\n"}) {
    const PlanFile plan = read_script(command, files);
    EXPECT_FALSE(has_errors(plan.findings)) << command;
    EXPECT_THAT(plan.draft.micro_batch, Optional(2)) << command;
    EXPECT_THAT(plan.draft.accumulation, Optional(8)) << command;
    EXPECT_THAT(plan.draft.sequence, Optional(4096)) << command;
  }
}

TEST(FineTuning, SectionsOfARecipe_AreRead) {
  const PlanFile plan = read(
      "model:\n  model_name_or_path: Qwen/Qwen3-8B\ndata:\n  cutoff_len: 4096\n"
      "parallel:\n  fsdp_size: 8\n  tp_size: 1\n  recompute: True\n"
      "training:\n  per_device_train_batch_size: 1\n  gradient_accumulation_steps: 2\n"
      "  optimizer: adamw\n");
  EXPECT_TRUE(plan.findings.empty()) << plan.findings[0].detail;
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_THAT(plan.draft.zero, Optional(3));
  EXPECT_THAT(plan.draft.dp, Optional(8));
  EXPECT_THAT(plan.draft.sequence, Optional(4096));
  EXPECT_THAT(plan.draft.recompute, Optional(plan::Recompute::full));
}

// ms-swift splits sequences itself, with and without DeepSpeed.
TEST(TrainerScript, SequencesThatSwiftSplits_AreNoError) {
  const PlanFile plan = read_script(
      "NPROC_PER_NODE=4 swift sft --model Qwen/Qwen2.5-7B --max_length 65536 "
      "--sequence_parallel_size 2\n");
  EXPECT_THAT(plan.draft.cp, Optional(2));
  EXPECT_THAT(plan.answered, ::testing::Contains("RW0586"));
}

TEST(TrainerScript, AdaptersBesideATrainedEncoder_AreReported) {
  for (const char* const command : {"swift sft --tuner_type", "megatron sft --tuner_type"}) {
    const PlanFile plan = read_script("NPROC_PER_NODE=4 " + std::string(command) +
                                      " lora_llm --model Qwen/Qwen2.5-7B --lora_rank 8\n");
    EXPECT_FALSE(has_errors(plan.findings)) << command;
    EXPECT_THAT(plan.draft.lora_rank, Optional(8)) << command;
  }
}

TEST(TrainerScript, PartsOfTheModelThatAreTrained_AreReported) {
  const auto reported = [](std::string_view flags) {
    return read_script("NPROC_PER_NODE=4 swift sft --model Qwen/Qwen2.5-7B --max_length 2048 " +
                       std::string(flags) + "\n")
        .findings.size();
  };
  for (const char* const flags :
       {"--tuner_type lora --modules_to_save embed_tokens",
        "--tuner_type full --use_llama_pro true", "--tuner_type full --lisa_activated_layers 2"})
    EXPECT_EQ(reported(flags), reported("--tuner_type lora") + 1) << flags;
  EXPECT_EQ(reported("--tuner_type full --lisa_activated_layers 0"), reported("--tuner_type full"));
}

}  // namespace fine_tuning_test
}  // namespace rankwright::importer
