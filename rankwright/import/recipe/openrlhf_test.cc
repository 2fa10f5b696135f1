// OpenRLHF's models beside the actor, and models in folders that only the running script knows.
#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_format.h"
#include "tests/support/left_out.h"

namespace rankwright::importer {
namespace openrlhf_test {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Eq;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

PlanFile read(const std::string& text) { return read_any_plan(text, "run.sh", refuse_file); }

std::string ppo(const std::string& program, const std::string& flags) {
  return "deepspeed --module openrlhf.cli." + program +
         " --train_batch_size 64 --micro_train_batch_size 2 --zero_stage 2 --pretrain "
         "Qwen/Qwen2.5-7B " +
         flags + "\n";
}

TEST(OpenRlhf, ModelsBesideTheActor_AreNamed) {
  const PlanFile ray = read(ppo("train_ppo_ray", "--reward_pretrain a/b --critic_num_nodes 1"));
  EXPECT_THAT(ray.findings,
              left_out("without the trained critic, the reference model, the reward model"));
  const PlanFile unknown = read(ppo("train_ppo_ray", "--reward_pretrain $13"));
  EXPECT_THAT(unknown.findings, left_out("the reward model"));
  const PlanFile group =
      read(ppo("train_ppo_ray", "--advantage_estimator group_norm --colocate_actor_ref"));
  EXPECT_THAT(group.findings, Not(left_out("only the actor")));
  const PlanFile sft = read(ppo("train_sft", ""));
  EXPECT_THAT(sft.findings, Not(left_out("only the actor")));
}

// Without Ray, all models are on the same GPUs.
TEST(OpenRlhf, ReferenceOfOneProcess_IsOnItsGpus) {
  EXPECT_THAT(read(ppo("train_ppo", "")).draft.ref_model, Optional(true));
  EXPECT_THAT(read(ppo("train_ppo", "--init_kl_coef 0")).draft.ref_model, Optional(false));
  EXPECT_THAT(read(ppo("train_ppo_ray", "")).draft.ref_model, Optional(false));
}

// Until dotted flags came, 16 bits had to be asked for; the default of param_dtype is bf16 since.
TEST(OpenRlhf, UnstatedFormat_IsOpenInOlderReleases) {
  EXPECT_EQ(read(ppo("train_sft", "")).draft.param_dtype, std::nullopt);
  EXPECT_THAT(read(ppo("train_sft", "--bf16")).draft.param_dtype, Optional(plan::Dtype::bf16));
  EXPECT_THAT(read(ppo("train_sft", "--ds.zero_stage 2")).draft.param_dtype,
              Optional(plan::Dtype::bf16));
}

TEST(OpenRlhf, LossOnPretrainingData_IsReported) {
  EXPECT_THAT(read(ppo("train_ppo_ray", "--pretrain_data x.jsonl")).findings, left_out("ptx"));
  EXPECT_THAT(read(ppo("train_ppo_ray", "")).findings, Not(left_out("ptx")));
}

TEST(OpenRlhf, ModelInAnUnknownFolder_HasItsName) {
  const auto model = [](const std::string& path) {
    const PlanFile plan = read(
        "deepspeed train_sft.py --train_batch_size 64 --zero_stage 2 "
        "--micro_train_batch_size 2 --pretrain " +
        path + "\n");
    return plan.draft.model ? plan.draft.model->name : "";
  };
  EXPECT_EQ(model("$STORE/models/gemma-2-2b-it"), "gemma-2-2b");
  EXPECT_EQ(model("$STORE/models/mine"), "");
  EXPECT_EQ(model("$STORE-gemma-2-2b"), "");  // another name, of which this is the end
}

// openrlhf/trainer/rm_trainer.py runs the chosen and the rejected sequence of a pair in one pass,
// and its model returns one value per token: 2 x 64 and 2 x 2 sequences, and no logits.
TEST(OpenRlhf, RewardModel_HasPairs_AndNoLogits) {
  const PlanFile plan = read(ppo("train_rm", ""));
  EXPECT_THAT(plan.draft.global_batch, Optional(128));
  EXPECT_THAT(plan.draft.micro_batch, Optional(4));
  EXPECT_THAT(plan.draft.loss, Optional(plan::Loss::fused_linear));
  EXPECT_THAT(plan.findings, left_out("one output"));
}

// Generation of data, a remote reward model and an evaluation have flags of the same names.
TEST(OpenRlhf, ProgramsBesideTheTraining_DoNotCount) {
  const std::string others[] = {
      "deepspeed --module openrlhf.cli.batch_inference --pretrain Qwen/Qwen2.5-1.5B --max_len 512 "
      "--zero_stage 0 --micro_batch_size 16 --bf16\n",
      "python -m openrlhf.cli.serve_rm --reward_pretrain a/b --max_len 8192 --bf16 &\n",
      "deepspeed --module openrlhf.eval.eval_latent --pretrain a/b --zero_stage 0 --bf16\n",
      "python tools/my_filter.py --pretrain a/b --zero_stage 0 --bf16 --max_len 9\n"};
  const std::string sft = ppo("train_sft", "--max_len 4096");
  for (const std::string& other : others)
    for (const std::string& script : {other + sft, sft + other}) {
      const PlanFile plan = read(script);
      ASSERT_TRUE(plan.draft.model.has_value()) << script;
      EXPECT_EQ(plan.draft.model->name, "qwen2.5-7b") << script;
      EXPECT_THAT(plan.draft.zero, Optional(2)) << script;
      EXPECT_THAT(plan.draft.sequence, Optional(4096)) << script;
      EXPECT_EQ(plan.draft.param_dtype, std::nullopt) << script;
      EXPECT_THAT(plan.draft.method, Eq(std::nullopt)) << script;
    }
}

TEST(OpenRlhf, SecondTraining_IsNamed_AndNotMixedIn) {
  const PlanFile plan = read(ppo("train_sft", "--max_len 4096") +
                             ppo("train_dpo", "--max_len 1024 --gradient_checkpointing"));
  EXPECT_THAT(plan.draft.sequence, Optional(4096));
  EXPECT_THAT(plan.draft.global_batch, Optional(64));
  EXPECT_THAT(plan.draft.recompute, Optional(plan::Recompute::none));
  EXPECT_THAT(plan.findings,
              Contains(Field(&Diagnostic::detail, HasSubstr("starts 2 training runs"))));
}

// A program of a fork before another command keeps its finding.
TEST(OpenRlhf, UnknownTraining_IsNamed_BesideOtherPrograms) {
  const std::string inference = "deepspeed --module openrlhf.cli.batch_inference --zero_stage 0\n";
  EXPECT_THAT(read(inference + ppo("train_meta_dpo", "")).findings, left_out("train_meta_dpo"));
}

TEST(OpenRlhf, UnknownFlags_AreNamed) {
  const auto codes = [](const std::string& flags) {
    std::string all;
    for (const Diagnostic& found : read(ppo("train_sft", flags)).findings)
      if (found.code == "RW0617" || found.code == "RW0618")
        all += std::string(found.code) + found.detail + ";";
    return all;
  };
  EXPECT_EQ(codes("--packing_samples --learning_rate 1e-5"), "");
  EXPECT_EQ(codes("--sft_steps 1 --foo_bar 3"), "RW0618--sft-steps, --foo-bar;");
  EXPECT_THAT(codes("--gradient_checkpointin"), HasSubstr("RW0617--gradient-checkpointin"));
  // The launcher's flags are not the program's.
  EXPECT_EQ(
      read("ray start --head --num-gpus 8 --port 6379\n" + ppo("train_ppo_ray", "")).unknown_keys,
      0u);
  EXPECT_EQ(read("deepspeed --num_gpus 8 --master_port 1 --module openrlhf.cli.train_sft "
                 "--micro_train_batch_size 2 --zero_stage 2\n")
                .unknown_keys,
            0u);
}

// PEFT's names of linear layers, after --target_modules.
TEST(OpenRlhf, AdaptersOfSomeLayers_AreRead) {
  const plan::LoraModules some{true, false, true, false, false, false, false};
  EXPECT_THAT(
      read(ppo("train_sft", "--lora_rank 8 --target_modules q_proj v_proj")).draft.lora_modules,
      Optional(some));
  EXPECT_THAT(read(ppo("train_sft", "--optim muon")).draft.optimizer,
              Optional(plan::Optimizer::muon));
}

// The first node starts the run: the condition does not decide what the command says.
TEST(OpenRlhf, ValuesOfACommandUnderACondition_AreStated) {
  const std::string run = ppo("train_ppo_ray", "--actor_num_nodes 4 --actor_num_gpus_per_node 8");
  const std::string head = "RANK=${1:-0}\nif [ \"$RANK\" = \"0\" ]; then\n" + run;
  const PlanFile plan = read(head + "fi\n");
  ASSERT_TRUE(plan.draft.shape.has_value());
  EXPECT_EQ(plan.draft.shape->nodes, 4);
  EXPECT_THAT(plan.findings, Not(Contains(Field(&Diagnostic::detail, HasSubstr("defaults of")))));
  const std::string other = ppo("train_ppo_ray", "--actor_num_nodes 2 --actor_num_gpus_per_node 8");
  EXPECT_FALSE(read(head + "else\n" + other + "fi\n").draft.shape.has_value());
}

// openrlhf/models/actor.py: "flash_attention_2" if --flash_attn is given and "eager" if not, up to
// 0.8; --attn_implementation since.
TEST(OpenRlhf, AttentionThatIsNotStated_IsAssumed) {
  const auto note = Contains(AllOf(Field(&Diagnostic::code, "RW0615"),
                                   Field(&Diagnostic::detail, HasSubstr("flash attention"))));
  EXPECT_THAT(read(ppo("train_sft", "--bf16")).findings, note);
  EXPECT_THAT(read(ppo("train_sft", "--bf16 --flash_attn")).findings, Not(note));
  const PlanFile eager = read(ppo("train_sft", "--attn_implementation eager"));
  EXPECT_THAT(eager.draft.attention, Optional(plan::AttentionKernel::unfused));
  EXPECT_THAT(eager.findings, Not(note));
}

// openrlhf/utils/deepspeed.py accumulates gradients in fp32 up to 0.5.3.
TEST(OpenRlhf, ProgramsOfExamples_AccumulateInFp32) {
  const PlanFile early = read(
      "deepspeed --include=localhost:0,1 ../train_rm.py --pretrain meta-llama/Llama-2-7b-hf "
      "--train_batch_size 8 --micro_train_batch_size 1 --zero_stage 3 --bf16\n");
  EXPECT_THAT(early.draft.grad_dtype, Optional(plan::Dtype::fp32));
  EXPECT_THAT(read(ppo("train_sft", "--bf16")).draft.grad_dtype, Optional(plan::Dtype::bf16));
}

// --max_len is that of generation there; prompts and answers have 1,024 tokens each by default.
TEST(OpenRlhf, LengthOfGeneration_IsNotThatOfTraining) {
  EXPECT_THAT(read(ppo("train_ppo_ray", "--max_len 8192")).draft.sequence, Optional(2048));
  EXPECT_THAT(read(ppo("train_ppo_ray", "--max_len 8192 --generate_max_len 512")).draft.sequence,
              Optional(1536));
  EXPECT_THAT(read(ppo("train_sft", "--max_len 8192")).draft.sequence, Optional(8192));
}

}  // namespace openrlhf_test
}  // namespace rankwright::importer
