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
  EXPECT_EQ(config.software.name, "fsdp");
  EXPECT_THAT(plan.ignored_keys, ElementsAre("compute_environment"));
  EXPECT_EQ(plan.where("parallelism.zero_stage").line, 2);
}

TEST(AccelerateImport, ReadsTheStrategiesOfFsdp1) {
  const PlanFile plan = read(
      "distributed_type: FSDP\nnum_machines: 4\nnum_processes: 32\n"
      "fsdp_config:\n  fsdp_sharding_strategy: HYBRID_SHARD\n  fsdp_offload_params: true\n");
  EXPECT_EQ(plan.draft.offload, true);
  const rankwright::plan::TrainingConfig config = resolve(plan.draft);
  EXPECT_EQ(config.plan.zero, 3);
  EXPECT_EQ(config.plan.shard_size, 8);  // within a machine
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

}  // namespace accelerate_test
}  // namespace rankwright::importer
