#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "rankwright/export/exporter.h"
#include "tests/support/golden.h"
#include "tests/support/round_trip.h"
#include "tests/support/typed_configs.h"

namespace rankwright::exporter {
namespace accelerate_test {

using ::testing::HasSubstr;
using ::testing::Not;

const Exporter& accelerate() { return *find_exporter("accelerate"); }

std::string export_text(const std::string& plan) {
  return export_plan(accelerate(), config_of(plan)).front().text;
}

TEST(AccelerateExport, HybridSharding_WritesReplicasAndShards) {
  // 32 ranks = tp 2 x dp 16; shards of 8 ranks, so 2 replicas.
  const std::string text = export_text(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 4\n"
      "parallelism: {tp_size: 2, dp_size: 16, zero_stage: 3, shard_size: 8, recompute: full, "
      "sequence_parallel: false}\n");
  EXPECT_THAT(text, HasSubstr("  parallelism_config_dp_replicate_size: 2\n"
                              "  parallelism_config_dp_shard_size: 8\n"));
  // The head lists job.global_batch, which only the training script can set.
  golden::expect("export/accelerate-hybrid-sharding.txt", text);
}

TEST(AccelerateExport, ZeroStage0_WritesDdp) {
  const std::string text = export_text(
      "model: llama-3.2-1b\nworld_size: 8\nparallelism: {dp_size: 8}\njob: {grad_dtype: fp32}\n");
  EXPECT_THAT(text, HasSubstr("distributed_type: MULTI_GPU\n"));
  EXPECT_THAT(text, Not(HasSubstr("fsdp_config")));
}

// The Trainer adds up whole gradients by default. The script has to say otherwise.
TEST(AccelerateExport, SyncOfEachBatch_IsListedForTheScript) {
  const std::string plan =
      "model: llama-3.2-1b\nworld_size: 8\nparallelism: {dp_size: 8, zero_stage: 3}\n"
      "software: {framework: transformers, sync_each_batch: ";
  EXPECT_THAT(export_text(plan + "true}\n"), HasSubstr("software.sync_each_batch"));
  EXPECT_THAT(export_text(plan + "false}\n"), Not(HasSubstr("software.sync_each_batch")));
}

RC_GTEST_PROP(AccelerateExport, RandomPlan_ReadsBackExceptForListedLosses, ()) {
  round_trip::hold(accelerate());
}

}  // namespace accelerate_test
}  // namespace rankwright::exporter
