#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_format.h"

namespace rankwright::importer {
namespace fine_tuning_test {

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

TEST(FineTuning, Adapters_AreRefusedInOneLine) {
  for (const std::string setting : {"finetuning_type: lora\n", "finetuning_type: oft\n"})
    EXPECT_EQ(read(kFactory + setting).findings[0].code, "RW0907") << setting;
  const PlanFile axolotl = read(
      "base_model: Qwen/Qwen3-8B\nsequence_len: 2048\ndatasets: []\nload_in_4bit: true\n"
      "adapter: qlora\nmicro_batch_size: 1\n");
  ASSERT_EQ(axolotl.findings.size(), 1u);
  EXPECT_EQ(axolotl.findings[0].severity, Severity::error);
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

TEST(FineTuning, UnknownModel_LeavesItOpen) {
  const PlanFile plan = read(
      "model_name_or_path: someone/new-model-9b\nper_device_train_batch_size: 4\n"
      "gradient_accumulation_steps: 2\nmax_seq_length: 2048\nbf16: true\n");
  EXPECT_TRUE(plan.findings.empty());
  EXPECT_EQ(plan.draft.model, std::nullopt);
  EXPECT_THAT(plan.draft.zero, Optional(0));
  ASSERT_EQ(plan.open.size(), 1u);  // accelerate's config may shard
  EXPECT_EQ(plan.open[0].key, "parallelism.zero_stage");
}

}  // namespace fine_tuning_test
}  // namespace rankwright::importer
