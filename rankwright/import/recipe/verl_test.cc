// Defaults that changed between versions of verl, and work that shares the GPUs with the update.
#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_format.h"
#include "tests/support/left_out.h"
#include "tests/support/repository.h"

namespace rankwright::importer {
namespace verl_test {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

PlanFile read(const std::string& settings) {
  return read_any_plan(
      "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen2.5-7B "
      "actor_rollout_ref.actor.ppo_mini_batch_size=64 trainer.n_gpus_per_node=8 " +
          settings + "\n",
      "run.sh", refuse_file);
}

// verl/trainer/config/ppo_trainer.yaml: entropy_coeff is 0.001 up to 0.3 and 0 since 0.4, and
// fsdp_config.grad_offload is a key of 0.1 and 0.2. The entropy keeps gradients of the logits.
TEST(Verl, EntropyThatIsNotStated_IsThatOfTheVersion) {
  const PlanFile today = read("");
  EXPECT_THAT(today.draft.loss, Optional(plan::Loss::fused));
  EXPECT_THAT(today.findings, assumes("no entropy loss (since 0.4)"));
  const PlanFile early = read("actor_rollout_ref.actor.fsdp_config.grad_offload=False");
  EXPECT_THAT(early.draft.loss, Optional(plan::Loss::log_probs));
  EXPECT_THAT(early.findings, assumes("an entropy loss (before 0.4"));
  EXPECT_THAT(read("actor_rollout_ref.actor.entropy_coeff=0").findings,
              Not(assumes("entropy loss")));
}

// enable_gradient_checkpointing is False in sft_trainer.yaml of 0.4 and True in that of 0.5.
// 256 prompts, the default, are more than the batch has: 128 x 4 responses are one update.
TEST(Verl, DefaultMiniBatchLargerThanTheBatch_IsOneUpdate) {
  const PlanFile plan = read_any_plan(
      "python3 -m verl.trainer.main_ppo data.train_batch_size=128 \\\n"
      "  actor_rollout_ref.model.path=Qwen/Qwen2.5-3B actor_rollout_ref.rollout.n=4 \\\n"
      "  actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=8 trainer.n_gpus_per_node=4\n",
      "run.sh", refuse_file);
  EXPECT_THAT(plan.draft.global_batch, ::testing::Optional(512));
}

TEST(Verl, MicroBatchOfAllRanks_OfFineTuning) {
  const PlanFile plan = read_any_plan(
      "torchrun --nnodes=1 --nproc_per_node=2 -m verl.trainer.fsdp_sft_trainer \\\n"
      "  data.train_files=x data.micro_batch_size=4 model.partial_pretrain=Qwen/Qwen2.5-0.5B\n",
      "run.sh", refuse_file);
  EXPECT_THAT(plan.draft.micro_batch, ::testing::Optional(2));
}

TEST(Verl, RecomputationThatIsNotStated_IsAssumed) {
  const std::string sft =
      "torchrun --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer "
      "model.partial_pretrain=Qwen/Qwen2.5-3B-Instruct data.max_length=1024 "
      "data.micro_batch_size_per_gpu=4 ";
  const PlanFile plan = read_any_plan(sft + "\n", "run.sh", refuse_file);
  EXPECT_THAT(plan.draft.recompute, Optional(plan::Recompute::full));
  EXPECT_THAT(plan.findings, assumes("full recomputation (since 0.5)"));
  const PlanFile stated =
      read_any_plan(sft + "model.enable_gradient_checkpointing=True\n", "run.sh", refuse_file);
  EXPECT_THAT(stated.findings, Not(assumes("recomputation")));
}

// adv_estimator is gae by default, which trains a critic; the rollout is vllm's by default.
TEST(Verl, WorkBesideTheUpdate_IsNamed_AlsoByDefault) {
  EXPECT_THAT(read("").findings, left_out("rollouts, a trained critic, reward models"));
  EXPECT_THAT(read("algorithm.adv_estimator=gae").findings, left_out("a trained critic"));
  const PlanFile group = read("algorithm.adv_estimator=grpo");
  EXPECT_THAT(group.findings, left_out("only the update of the actor"));
  EXPECT_THAT(group.findings, Not(left_out("critic")));
}

TEST(Verl, AdaptersOfSomeLayers_AreRead) {
  const plan::LoraModules some{true, false, true, false, false, false, false};
  for (const char* const list : {"[q_proj,v_proj]", "\"['q_proj','v_proj']\""})
    EXPECT_THAT(read(std::string("actor_rollout_ref.model.lora_rank=8 "
                                 "actor_rollout_ref.model.target_modules=") +
                     list)
                    .draft.lora_modules,
                Optional(some));
}

TEST(Verl, FormatsOptimizerAndAttention_AreRead) {
  const std::string actor = "actor_rollout_ref.actor.";
  EXPECT_THAT(read("").draft.param_dtype, Optional(plan::Dtype::bf16));
  EXPECT_THAT(read(actor + "fsdp_config.dtype=float16").draft.param_dtype,
              Optional(plan::Dtype::fp16));
  EXPECT_THAT(read("+" + actor + "fsdp_config.mixed_precision.param_dtype=fp32").draft.param_dtype,
              Optional(plan::Dtype::fp32));
  EXPECT_THAT(read(actor + "optim.optimizer=AdamW8bit").draft.optimizer,
              Optional(plan::Optimizer::adam_8bit));
  EXPECT_THAT(
      read("+actor_rollout_ref.model.override_config.attn_implementation=eager").draft.attention,
      Optional(plan::AttentionKernel::unfused));
}

// The trainer of fine-tuning takes its ranks from torchrun; trainer.n_gpus_per_node is Ray's.
TEST(Verl, RanksOfFineTuning_AreThoseOfItsLauncher) {
  const PlanFile plan = read_any_plan(
      "torchrun --nnodes=1 --nproc_per_node=4 -m verl.trainer.fsdp_sft_trainer \\\n"
      "  data.train_files=x data.micro_batch_size_per_gpu=1 trainer.n_gpus_per_node=1 \\\n"
      "  model.partial_pretrain=Qwen/Qwen3-4B model.fsdp_config.model_dtype=bf16\n",
      "run.sh", refuse_file);
  ASSERT_TRUE(plan.draft.shape.has_value());
  EXPECT_EQ(plan.draft.shape->gpus, 4);
  EXPECT_THAT(plan.draft.master_dtype, Optional(plan::Dtype::bf16));
}

TEST(Verl, ConfigThatAScriptNames_IsReadUnderItsOverrides) {
  const std::string script =
      "python3 -m verl.trainer.main_ppo --config-path=/repo/cfg --config-name=mine "
      "data.max_prompt_length=300 trainer.n_gpus_per_node=8\n";
  const FileReader files = [](const std::string& name) -> Result<std::string> {
    if (!name.ends_with("cfg/mine.yaml")) return refuse_file(name);
    return R"(
actor_rollout_ref:
  model: {path: Qwen/Qwen2.5-7B}
  rollout: {n: 4}
  actor: {ppo_mini_batch_size: 32, ppo_micro_batch_size_per_gpu: 2}
data: {max_prompt_length: 3000, max_response_length: 500}
)";
  };
  const PlanFile plan = read_any_plan(script, "run.sh", files);
  EXPECT_THAT(plan.draft.global_batch, Optional(128));
  EXPECT_THAT(plan.draft.micro_batch, Optional(2));
  EXPECT_THAT(plan.draft.sequence, Optional(800));
  const PlanFile alone = read_any_plan(script, "run.sh", refuse_file);
  EXPECT_THAT(alone.findings, assumes("mine.yaml"));
  // The configs of verl itself have its defaults.
  const PlanFile packaged = read("--config-name=ppo_megatron_trainer.yaml");
  EXPECT_THAT(packaged.findings, Not(assumes("ppo_megatron_trainer")));
}

// create_device_mesh shards over all ranks if fsdp_size is at least their number.
TEST(Verl, ShardOfMoreRanksThanThereAre_IsOneOfAll) {
  EXPECT_EQ(read("actor_rollout_ref.actor.fsdp_config.fsdp_size=32").draft.shard_size,
            std::nullopt);
  EXPECT_THAT(read("actor_rollout_ref.actor.fsdp_config.fsdp_size=4").draft.shard_size,
              Optional(4));
}

// `uv run --extra vllm` installs a package, and serves nothing.
TEST(Verl, PackageOfALauncher_IsNoServer) {
  const PlanFile plan = read_any_plan(
      "uv run --extra vllm python3 -m verl.trainer.main_ppo data.train_batch_size=64 "
      "actor_rollout_ref.model.path=Qwen/Qwen2.5-7B actor_rollout_ref.actor.ppo_mini_batch_size=32 "
      "trainer.n_gpus_per_node=4\n",
      "run.sh", refuse_file);
  EXPECT_THAT(plan.draft.global_batch, Optional(32));
}

TEST(Verl, OverrideWithAnUnknownValue_HidesTheConfigs) {
  const FileReader files = [](const std::string& name) -> Result<std::string> {
    if (!name.ends_with("cfg.yaml")) return refuse_file(name);
    return "worker: {actor: {model: {model_path: Qwen/Qwen2.5-VL-7B-Instruct}, "
           "global_batch_size: 16}}\n";
  };
  const PlanFile plan = read_any_plan(
      "model=$1\npython3 -m verl.trainer.main config=cfg.yaml data.max_prompt_length=64 "
      "worker.actor.model.model_path=${model} trainer.n_gpus_per_node=4\n",
      "run.sh", files);
  EXPECT_FALSE(plan.draft.model.has_value());
  EXPECT_THAT(plan.draft.method, Optional(plan::Method::grpo));
}

// Forks change the defaults of the package, which Hydra takes from the checkout.
TEST(Verl, DefaultsOfTheCheckout_AreThoseOfTheRun) {
  const std::string script =
      "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen2.5-7B "
      "actor_rollout_ref.actor.ppo_mini_batch_size=64 trainer.n_gpus_per_node=8 "
      "data.max_response_length=512\n";
  const FileReader files = repository({{"verl/trainer/config/ppo_trainer.yaml",
                                        "data: {max_prompt_length: 256, max_response_length: 64}\n"
                                        "actor_rollout_ref:\n  actor:\n    entropy_coeff: 0\n"
                                        "    ppo_micro_batch_size_per_gpu: 2\n"
                                        "    fsdp_config: {model_dtype: bfloat16}\n"}});
  const PlanFile plan = read_any_plan(script, "scripts/run.sh", files);
  EXPECT_THAT(plan.draft.micro_batch, Optional(2));
  EXPECT_THAT(plan.draft.sequence, Optional(768));
  EXPECT_THAT(plan.draft.moment_dtype, Optional(plan::Dtype::bf16));
  EXPECT_THAT(plan.findings, assumes("verl/trainer/config/ppo_trainer.yaml"));
  // One that joins others is not read.
  const FileReader joined =
      repository({{"verl/trainer/config/ppo_trainer.yaml",
                   "defaults: [actor@actor_rollout_ref.actor: dp_actor, _self_]\ndata: {a: 1}\n"}});
  EXPECT_THAT(read_any_plan(script, "run.sh", joined).findings, Not(assumes("ppo_trainer.yaml")));
}

// EasyR1 has no loss on the entropy, whatever its keys of data are.
TEST(Verl, KeysOfEasyR1_TellNothingOfVerlsVersion) {
  const PlanFile plan = read_any_plan(
      "data: {max_prompt_length: 64, max_response_length: 64, val_batch_size: 32}\n"
      "worker:\n  actor:\n    global_batch_size: 8\n"
      "    micro_batch_size_per_device_for_update: 1\n"
      "    model: {model_path: Qwen/Qwen2.5-7B}\n"
      "trainer: {nnodes: 1, n_gpus_per_node: 1}\n",
      "a.yaml", refuse_file);
  EXPECT_THAT(plan.draft.loss, Optional(plan::Loss::fused));
}

TEST(Verl, CriticThatIsTurnedOn_IsNamed) {
  EXPECT_THAT(read("algorithm.adv_estimator=mine critic.enable=True").findings,
              left_out("a trained critic"));
  EXPECT_THAT(read("algorithm.adv_estimator=mine").findings, Not(left_out("a trained critic")));
}

// 60 prompts x 5 on 8 ranks are 37.5 sequences, in micro-batches of 2: early releases do not ask.
TEST(Verl, LastMicroBatchOfEarlyReleases_MayBeSmaller) {
  const std::string uneven =
      "actor_rollout_ref.rollout.n=5 actor_rollout_ref.actor.ppo_mini_batch_size=60 "
      "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2";
  EXPECT_THAT(read(uneven + " actor_rollout_ref.actor.fsdp_config.grad_offload=False").findings,
              left_out("the last micro-batch of an update is smaller"));
  EXPECT_THAT(read(uneven).findings, Not(left_out("is smaller")));
}

// Settings that no release has are those of a fork.
TEST(Verl, SettingsOfForks_AreNamed) {
  EXPECT_THAT(read("actor_rollout_ref.actor.simko=True trainer.note=1").findings,
              Contains(AllOf(Field(&Diagnostic::code, "RW0618"),
                             Field(&Diagnostic::detail, "actor_rollout_ref.actor.simko"))));
}

// The frozen weights of the fine-tuning trainer are fp32, too.
TEST(Verl, AdaptersOfFineTuning_LeaveFp32Weights) {
  const PlanFile plan = read_any_plan(
      "torchrun --nproc_per_node=2 -m verl.trainer.fsdp_sft_trainer "
      "model.partial_pretrain=Qwen/Qwen2.5-1.5B model.lora_rank=16 data.train_batch_size=128\n",
      "run.sh", refuse_file);
  EXPECT_EQ(plan.draft.base_dtype, plan::BaseDtype::fp32);
}

}  // namespace verl_test
}  // namespace rankwright::importer
