#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_format.h"

namespace rankwright::importer {
namespace accelerate_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::string_view kConfig =
    "compute_environment: LOCAL_MACHINE\n"
    "distributed_type: FSDP\n"
    "fsdp_config:\n"
    "  fsdp_version: 2\n"
    "  fsdp_reshard_after_forward: false\n"
    "  fsdp_activation_checkpointing: true\n"
    "mixed_precision: bf16\n"
    "num_machines: 2\n"
    "num_processes: 16\n"
    "parallelism_config:\n"
    "  parallelism_config_dp_replicate_size: 2\n"
    "  parallelism_config_dp_shard_size: 4\n"
    "  parallelism_config_tp_size: 2\n";

PlanFile read(std::string text) { return read_any_plan(std::move(text), "fsdp.yaml", refuse_file); }

TEST(AccelerateImport, ReadsFsdpAndItsMesh) {
  const PlanFile plan = read(std::string(kConfig));
  ASSERT_TRUE(plan.findings.empty()) << plan.findings[0].detail;
  EXPECT_EQ(plan.format->name, "accelerate");
  const rankwright::plan::TrainingConfig config = resolve(plan.draft);
  EXPECT_EQ(config.world, 16);
  EXPECT_EQ(config.plan.dp, 8);          // 2 replicas x 4 shards
  EXPECT_EQ(config.plan.shard_size, 4);  // 8 / 2
  EXPECT_EQ(config.plan.zero, 2);
  EXPECT_EQ(config.plan.recompute, plan::Recompute::full);
  EXPECT_EQ(config.job.grad_dtype, plan::Dtype::bf16);
  EXPECT_EQ(config.cluster.host_devices, 8);  // 16 processes on 2 machines
  EXPECT_EQ(config.software.name, "transformers");
  EXPECT_THAT(plan.ignored_keys, ElementsAre("compute_environment"));
  EXPECT_EQ(plan.where("parallelism.zero_stage").line, 2);
}

TEST(AccelerateImport, ReadsTheStrategiesOfFsdp1) {
  const PlanFile plan = read(
      "distributed_type: FSDP\nnum_machines: 4\nnum_processes: 32\n"
      "fsdp_config:\n  fsdp_sharding_strategy: HYBRID_SHARD\n  fsdp_offload_params: true\n");
  EXPECT_EQ(plan.draft.offload_optimizer, 1);
  const rankwright::plan::TrainingConfig config = resolve(plan.draft);
  EXPECT_EQ(config.plan.zero, 3);
  EXPECT_EQ(config.plan.shard_size, 8);  // within a machine
}

TEST(AccelerateImport, PrefixOfFsdpSettings_MayBeMissing) {
  const PlanFile plan = read_any_plan(
      "distributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 8\nfsdp_config:\n"
      "  sharding_strategy: SHARD_GRAD_OP\n  offload_params: true\n  use_orig_params: true\n",
      "fsdp.yaml", refuse_file);
  EXPECT_THAT(plan.draft.zero, ::testing::Optional(2));
  EXPECT_THAT(plan.draft.offload_parameters, ::testing::Optional(true));
  EXPECT_TRUE(plan.findings.empty()) << plan.findings[0].detail;
}

TEST(AccelerateImport, ReplicasThatDoNotDivideTheDataRanks_AreReported) {
  const PlanFile plan = read(
      "distributed_type: FSDP\nnum_machines: 3\nnum_processes: 8\n"
      "fsdp_config:\n  fsdp_sharding_strategy: HYBRID_SHARD\n");
  const Diagnostics found = plan.format->against(plan, resolve(plan.draft));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].code, "RW0604");
}

TEST(AccelerateImport, ReadsTheStageThatDeepSpeedRuns) {
  const PlanFile plan =
      read("distributed_type: DEEPSPEED\nnum_processes: 8\ndeepspeed_config:\n  zero_stage: 1\n");
  EXPECT_TRUE(plan.findings.empty());
  EXPECT_EQ(plan.draft.zero, 1);
}

TEST(AccelerateImport, DeepSpeed_IsJudgedAsDeepSpeed) {
  const PlanFile plan =
      read("distributed_type: DEEPSPEED\nnum_processes: 8\ndeepspeed_config:\n  zero_stage: 1\n");
  EXPECT_THAT(plan.draft.target, ::testing::Optional(rules::Target::deepspeed));
  EXPECT_FALSE(has_errors(lint(resolve(plan.draft), rules::Target::deepspeed)));
  // accelerate's default stage
  EXPECT_EQ(read("distributed_type: DEEPSPEED\nnum_processes: 8\n").draft.zero, 2);
}

TEST(AccelerateImport, DeepSpeedConfigFile_IsFollowed) {
  const std::string text =
      "distributed_type: DEEPSPEED\nnum_processes: 16\nmixed_precision: bf16\n"
      "deepspeed_config:\n  deepspeed_config_file: ds.json\n";
  const PlanFile plan =
      read_any_plan(text, "conf/acc.yaml", [](const std::string& path) -> Result<std::string> {
        if (path != "conf/ds.json") return refuse_file(path);
        return "{\"zero_optimization\": {\"stage\": 3}, \"bf16\": {\"enabled\": true}, "
               "\"train_micro_batch_size_per_gpu\": 2, \"gradient_accumulation_steps\": 4}";
      });
  EXPECT_TRUE(plan.findings.empty()) << plan.findings[0].detail;
  EXPECT_EQ(plan.draft.zero, 3);
  EXPECT_EQ(plan.draft.micro_batch, 2);
  EXPECT_EQ(resolve(plan.draft).job.global_batch, 128);  // 2 x 4 x 16
  // A file that is not there is a warning.
  const PlanFile alone = read(text);
  ASSERT_THAT(alone.findings, SizeIs(1));
  EXPECT_EQ(alone.findings[0].code, "RW0601");
}

TEST(AccelerateImport, ReadsTheSettingsOfMegatron) {
  const PlanFile plan = read(
      "distributed_type: MEGATRON_LM\nnum_processes: 16\nmixed_precision: bf16\n"
      "megatron_lm_config:\n  megatron_lm_tp_degree: 4\n  megatron_lm_pp_degree: 2\n"
      "  megatron_lm_num_micro_batches: 8\n  megatron_lm_sequence_parallelism: true\n"
      "  megatron_lm_recompute_activations: true\n"
      "  megatron_lm_use_distributed_optimizer: true\n  megatron_lm_gradient_clipping: 1.0\n");
  EXPECT_TRUE(plan.findings.empty()) << plan.findings[0].detail;
  const rankwright::plan::TrainingConfig config = resolve(plan.draft);
  EXPECT_EQ(config.plan.tp, 4);
  EXPECT_EQ(config.plan.pp, 2);
  EXPECT_EQ(config.plan.dp, 2);  // 16 / 4 / 2
  EXPECT_EQ(config.plan.zero, 1);
  EXPECT_TRUE(config.plan.sequence_parallel);
  EXPECT_EQ(config.plan.recompute, plan::Recompute::selective);
  EXPECT_THAT(plan.draft.target, ::testing::Optional(rules::Target::megatron));
}

TEST(Accelerate, SettingBesideTheOneThatItResembles_IsNoTypo) {
  const PlanFile plan = read_any_plan(
      "distributed_type: DEEPSPEED\nmixed_precision: bf16\nnum_processes: 4\ndeepspeed_config:\n"
      "  zero_stage: 3\n  offload_optimizer_device: none\n"
      "  offload_optimizer: {device: none}\n",
      "a.yaml", refuse_file);
  EXPECT_FALSE(has_errors(plan.findings));
  for (const Diagnostic& found : plan.findings) EXPECT_NE(found.code, "RW0617") << found.detail;
}

TEST(AccelerateImport, ReadsTheCompiler) {
  const std::string text(kConfig);
  EXPECT_EQ(read(text).draft.compile, std::nullopt);
  EXPECT_EQ(read(text + "dynamo_config: {dynamo_backend: INDUCTOR}\n").draft.compile, true);
  EXPECT_EQ(read(text + "dynamo_config: {dynamo_backend: EAGER}\n").draft.compile, std::nullopt);
}

// Tensor parallelism of transformers, before accelerate had a mesh.
TEST(AccelerateImport, ReadsTensorParallelism) {
  const PlanFile plan = read(
      "distributed_type: TP\nnum_machines: 1\nnum_processes: 8\ntp_config: {tp_size: 4}\n"
      "mixed_precision: bf16\n");
  EXPECT_TRUE(plan.findings.empty()) << plan.findings[0].detail;
  EXPECT_THAT(plan.draft.tp, ::testing::Optional(4));
  EXPECT_EQ(resolve(plan.draft).plan.dp, 2);
}

// accelerate uses the section of the type that the file states, and computes in fp32 by default.
TEST(AccelerateImport, SectionOfAnotherType_IsNotUsed) {
  const PlanFile plan = read(
      "distributed_type: MULTI_GPU\nnum_processes: 2\n"
      "deepspeed_config: {gradient_accumulation_steps: 4, zero_stage: 2}\n");
  EXPECT_EQ(plan.draft.accumulation, std::nullopt);
  EXPECT_EQ(plan.draft.zero, 0);
  EXPECT_EQ(plan.draft.param_dtype, plan::Dtype::fp32);
  ASSERT_THAT(plan.findings, SizeIs(2));
  EXPECT_THAT(plan.findings[0].detail, HasSubstr("deepspeed_config"));
  EXPECT_THAT(plan.findings[1].detail, HasSubstr("mixed_precision"));
  EXPECT_EQ(read("distributed_type: DEEPSPEED\nnum_processes: 2\ndeepspeed_config: "
                 "{gradient_accumulation_steps: 4, zero_stage: 2}\n")
                .draft.accumulation,
            4);
}

// The program decides.
TEST(Accelerate, AccumulationOfTheProgram_IsOpen) {
  const PlanFile plan = read_any_plan(
      "distributed_type: DEEPSPEED\nnum_processes: 4\nmixed_precision: bf16\n"
      "deepspeed_config:\n  zero_stage: 2\n  gradient_accumulation_steps: auto\n",
      "a.yaml", refuse_file);
  EXPECT_FALSE(plan.draft.accumulation.has_value());
  EXPECT_FALSE(has_errors(plan.findings));
}

}  // namespace accelerate_test
}  // namespace rankwright::importer
