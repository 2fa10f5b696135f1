// OpenRLHF's models beside the actor, and models in folders that only the running script knows.
#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_format.h"
#include "tests/support/left_out.h"

namespace rankwright::importer {
namespace openrlhf_test {

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

}  // namespace openrlhf_test
}  // namespace rankwright::importer
