#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_format.h"
#include "tests/support/finding_lines.h"
#include "tests/support/golden.h"

namespace rankwright::importer {
namespace deepspeed_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

PlanFile read(std::string text) { return read_any_plan(std::move(text), "ds.json", refuse_file); }

std::string batch(int train, int micro, int accumulation) {
  return "{\n  \"train_batch_size\": " + std::to_string(train) +
         ",\n  \"train_micro_batch_size_per_gpu\": " + std::to_string(micro) +
         ",\n  \"gradient_accumulation_steps\": " + std::to_string(accumulation) + "\n}\n";
}

TEST(DeepspeedImport, ReadsZeroAndRelatedSettings) {
  const PlanFile plan = read(R"({
    "train_micro_batch_size_per_gpu": 4,
    "gradient_accumulation_steps": 2,
    "zero_optimization": {"stage": 3, "mics_shard_size": 8, "reduce_bucket_size": 5e8},
    "tensor_parallel": {"autotp_size": 2},
    "sequence_parallel_size": 2,
    "fp16": {"enabled": true},
    "optimizer": {"type": "FusedAdam", "params": {"lr": 1e-4}}
  })");
  ASSERT_TRUE(plan.findings.empty()) << plan.findings[0].detail;
  EXPECT_EQ(plan.format->name, "deepspeed");
  Draft draft = plan.draft;
  draft.world = 64;
  const rankwright::plan::TrainingConfig config = resolve(draft);
  EXPECT_EQ(config.plan.dp, 16);            // 64 = tp 2 x cp 2 x dp 16
  EXPECT_EQ(config.job.global_batch, 128);  // 4 x 2 x 16
  EXPECT_EQ(config.plan.shard_size, 8);
  EXPECT_EQ(config.plan.cp_comm, plan::CpComm::a2a);
  EXPECT_FALSE(config.plan.sequence_parallel);
  EXPECT_TRUE(config.plan.overlap.grad_reduce);  // the default for stage 3
  EXPECT_EQ(config.job.param_dtype, plan::Dtype::fp16);
  EXPECT_EQ(config.job.grad_dtype, plan::Dtype::fp16);
  EXPECT_EQ(config.job.optimizer, plan::Optimizer::adam);
  EXPECT_EQ(config.software.name, "deepspeed");
  EXPECT_EQ(config.plan.bucket_size, 500'000'000);
  EXPECT_THAT(plan.ignored_keys, ElementsAre("optimizer.params.lr"));
}

TEST(DeepspeedImport, AutoValues_AreLeftToDefaults) {
  const PlanFile plan = read(R"({"train_batch_size": "auto",
    "train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto",
    "bf16": {"enabled": "auto"}, "zero_optimization": {"stage": 2, "overlap_comm": true}})");
  EXPECT_TRUE(plan.findings.empty());
  EXPECT_FALSE(plan.draft.micro_batch || plan.draft.global_batch || plan.draft.accumulation);
  EXPECT_FALSE(plan.draft.param_dtype);
  EXPECT_EQ(plan.draft.zero, 2);
}

TEST(DeepspeedImport, DerivesTheDataRanksFromTheBatch) {
  // 256 = 4 x 8 x 8 data ranks.
  const PlanFile plan = read(batch(256, 4, 8));
  const rankwright::plan::TrainingConfig config = resolve(plan.draft);
  EXPECT_EQ(config.plan.dp, 8);
  EXPECT_EQ(config.world, 8);
  EXPECT_THAT(plan.format->against(plan, config), SizeIs(0));
}

TEST(DeepspeedImport, DerivesTheMissingNumberOfTheBatch) {
  Draft draft = read(R"({"train_batch_size": 64, "gradient_accumulation_steps": 2})").draft;
  draft.world = 8;
  EXPECT_EQ(resolve(draft).plan.micro_batch, 4);  // 64 / 2 / 8
  draft = read(R"({"train_batch_size": 64})").draft;
  draft.world = 8;
  EXPECT_EQ(resolve(draft).plan.micro_batch, 8);  // 64 / 8, accumulation 1
}

TEST(DeepspeedImport, InconsistentBatch_IsReported) {
  PlanFile plan = read(batch(256, 4, 8));
  plan.draft.world = 16;
  const Diagnostics found = plan.format->against(plan, resolve(plan.draft));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].code, "RW0604");
  EXPECT_EQ(found[0].where.line, 2);
  golden::expect("import/deepspeed-batch.txt", format_findings(found));  // 256 is not 4 x 8 x 16
  // 250 is not a multiple of 32, whatever the world size.
  plan = read(batch(250, 4, 8));
  EXPECT_THAT(plan.format->against(plan, resolve(plan.draft)), SizeIs(1));
}

TEST(DeepspeedImport, IgnoredSettings_AreReported) {
  const PlanFile plan = read(R"({"zero_optimization": {"stage": 3,
    "offload_optimizer": {"device": "cpu", "pin_memory": true},
    "offload_param": {"device": "none"}, "zero_hpz_partition_size": 8,
    "zero_quantized_weights": false}})");
  ASSERT_THAT(plan.findings, SizeIs(1));
  EXPECT_EQ(plan.findings[0].code, "RW0601");
  EXPECT_THAT(plan.findings[0].detail, HasSubstr("zero_hpz_partition_size"));
  EXPECT_EQ(plan.draft.offload_optimizer, 1);
}

// The autotuner chooses one of a list of stages.
TEST(DeepspeedImport, ListOfStages_IsReported) {
  const PlanFile plan = read_any_plan(
      "{\"train_micro_batch_size_per_gpu\": 1, \"zero_optimization\": {\"stage\": [0, 1, 2]}}",
      "ds.json", refuse_file);
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].code, "RW0601");
  EXPECT_EQ(plan.draft.zero, 2);
}

TEST(DeepSpeed, FormatThatIsNotBf16_IsTakenAsFp16) {
  EXPECT_THAT(read(R"({"fp16": {"enabled": "auto"}, "bf16": {"enabled": false},
    "zero_optimization": {"stage": 2}})")
                  .draft.param_dtype,
              testing::Optional(plan::Dtype::fp16));
  EXPECT_FALSE(read(R"({"fp16": {"enabled": "auto"}, "zero_optimization": {"stage": 2}})")
                   .draft.param_dtype.has_value());
}

// Only pipelines have the optimizer of bf16 that shards (DeepSpeedEngine._do_optimizer_sanity_check
// of 0.19).
TEST(DeepspeedImport, Bf16WithoutZero_ShardsNothing) {
  const PlanFile plan = read(
      "{\"train_batch_size\": 8, \"bf16\": {\"enabled\": true}, \"zero_optimization\": {\"stage\": "
      "0}}");
  EXPECT_THAT(plan.draft.zero, ::testing::Optional(0));
  EXPECT_THAT(plan.draft.grad_dtype, ::testing::Optional(plan::Dtype::bf16));
}

// DeepSpeed reduces a parameter that is larger than a bucket by itself.
TEST(DeepSpeed, TinyBuckets_AreThoseOfParameters) {
  const PlanFile plan = read_any_plan(
      "{\"train_micro_batch_size_per_gpu\": 1, \"zero_optimization\": {\"stage\": 2, "
      "\"reduce_bucket_size\": 1e2}}",
      "ds.json", refuse_file);
  EXPECT_EQ(plan.draft.bucket_size, 4'000'000);
  EXPECT_FALSE(has_errors(plan.findings));
}

TEST(DeepSpeed, SwitchOfTheFirstReleases_IsStageOne) {
  const auto stage = [](const std::string& value) {
    return read_any_plan(
               "{\"train_micro_batch_size_per_gpu\": 8, \"zero_optimization\": " + value + "}",
               "ds.json", refuse_file)
        .draft.zero;
  };
  EXPECT_EQ(stage("true"), 1);
  EXPECT_EQ(stage("false"), 0);
}

// A program that fills "auto" in also adds the format that it computes in.
TEST(DeepSpeed, FormatBesideAuto_IsThatOfTheProgram) {
  const auto format = [](const std::string& batch) {
    return read_any_plan("{\"train_micro_batch_size_per_gpu\": " + batch +
                             ", \"zero_optimization\": {\"stage\": 2}}",
                         "ds.json", refuse_file)
        .draft.param_dtype;
  };
  EXPECT_EQ(format("\"auto\""), std::nullopt);
  EXPECT_EQ(format("4"), plan::Dtype::fp32);
}

}  // namespace deepspeed_test
}  // namespace rankwright::importer
