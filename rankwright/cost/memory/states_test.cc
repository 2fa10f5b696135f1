#include "rankwright/cost/memory/states.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/plan/shares.h"
#include "tests/support/sample.h"

namespace rankwright::cost {
namespace states_test {

/// Parameters of the sample model: 8 layers of 15,206,400, embedding and head of 32,768,000 each, a
/// norm of 1024.
constexpr double kParameters = 8 * 15'206'400.0 + 2 * 32'768'000.0 + 1024;

double per_parameter(int zero, i64 dp) {
  const States s = compute_states(sample::dense_config({.dp = dp, .zero = zero}), 0);
  return (s.parameters + s.gradients + s.optimizer).value / kParameters;
}

TEST(States, SevenBillionParametersTake112GB) {
  // weights 2 + gradients 2 + master 4 + Adam 8 = 16 bytes; llama-7b has 6.738 billion
  rankwright::plan::TrainingConfig config = sample::config_of(*catalog::find_model("llama-7b"), {});
  const double parameters = double(count_rank_share(config, 0).total());
  EXPECT_NEAR(parameters, 7e9, 0.3e9);
  EXPECT_DOUBLE_EQ(compute_states(config, 0).total().value, 16 * parameters);
  EXPECT_NEAR(compute_states(config, 0).total().value / parameters * 7e9, 112e9, 1);
}

TEST(States, ZeroStagesShardOneKindEach) {
  EXPECT_DOUBLE_EQ(per_parameter(0, 8), 16);
  EXPECT_DOUBLE_EQ(per_parameter(1, 8), 4 + 12.0 / 8);
  EXPECT_DOUBLE_EQ(per_parameter(2, 8), 2 + 14.0 / 8);
  EXPECT_DOUBLE_EQ(per_parameter(3, 8), 16.0 / 8);
}

TEST(States, MegatronDistributedOptimizerTakes6Plus12OverN) {
  rankwright::plan::TrainingConfig config = sample::dense_config({.cp = 2, .dp = 4, .zero = 1});
  config.job.grad_dtype = plan::Dtype::fp32;
  EXPECT_DOUBLE_EQ(compute_states(config, 0).total().value, (6 + 12.0 / 8) * kParameters);
}

TEST(States, HybridShardingDividesByTheShardSize) {
  const rankwright::plan::TrainingConfig config =
      sample::dense_config({.dp = 8, .zero = 1, .shard_size = 4});
  EXPECT_DOUBLE_EQ(compute_states(config, 0).optimizer.value, 12 * kParameters / 4);
}

TEST(States, Zero3GathersTheLargestUnitTwice) {
  // the head and the last norm: 2 x (32,768,000 + 1024) x 2 bytes
  const States s = compute_states(sample::dense_config({.dp = 8, .zero = 3}), 0);
  EXPECT_EQ(s.gathered.value, 2 * 32'769'024.0 * 2);
  EXPECT_EQ(compute_states(sample::dense_config({.dp = 8, .zero = 2}), 0).gathered, 0.0_B);
  EXPECT_EQ(compute_states(sample::dense_config({.zero = 3}), 0).gathered,
            0.0_B);  // nothing to gather
}

TEST(States, ExpertsAreShardedOverTheirDataRanks) {
  // 25,165,824 expert parameters per rank (8 layers x 2 experts x 3 x 1024 x 512); 8 / 4 = 2
  const rankwright::plan::TrainingConfig config = sample::config_of(
      sample::model_of({{8, sample::sparse_layer()}}), {.dp = 8, .ep = 4, .zero = 1});
  const double dense = double(count_rank_share(config, 0).dense);
  EXPECT_DOUBLE_EQ(compute_states(config, 0).optimizer.value, 12 * (dense / 8 + 25'165'824.0 / 2));
}

TEST(States, MirroredRankHoldsTwoStages) {
  // DualPipe: twice the parameters of a stage, two layers, at 16 bytes
  const rankwright::plan::TrainingConfig plain = sample::dense_config({.pp = 4});
  const rankwright::plan::TrainingConfig mirror =
      sample::dense_config({.pp = 4, .schedule = pipeline::Schedule::dualpipe}, 8);
  EXPECT_DOUBLE_EQ(compute_states(plain, 1).total().value, 16 * 2 * 15'206'400.0);
  EXPECT_DOUBLE_EQ(compute_states(mirror, 1).total().value, 16 * 4 * 15'206'400.0);
}

// FSDP2 with CPUOffloadPolicy and bf16 weights: 2 + 2 bytes of weights and gradients, two moments
// of 2 bytes. DeepSpeed's CPU-Adam reads fp32 gradients: 2 + 4 + 12.
TEST(States, HostHoldsGradientsAsItsOptimizerReadsThem) {
  plan::TrainingConfig config = sample::dense_config({.dp = 8, .zero = 3});
  config.plan.offload = {.optimizer = 1, .parameters = true};
  EXPECT_DOUBLE_EQ(compute_states(config, 0).host.value, (2 + 4 + 12) * kParameters / 8);
  for (const plan::Software& row : plan::frameworks())
    if (row.name == "transformers") config.software = row;
  config.job.master_dtype = config.job.moment_dtype = plan::Dtype::bf16;
  EXPECT_DOUBLE_EQ(compute_states(config, 0).host.value, (2 + 2 + 4) * kParameters / 8);
  EXPECT_EQ(compute_states(config, 0).parameters, 0.0_B);
}

// A shard of 1e9 parameters of 8e9: 12 + 4 bytes of the optimizer on the drives, and four fp32
// buffers of 1e8 elements in memory. From 2e9 parameters 1e9 stay in memory, beside five buffers.
TEST(States, Nvme_LeavesBuffersInHostMemory) {
  plan::TrainingConfig config = sample::dense_config({.dp = 8, .zero = 3});
  config.plan.offload = {.optimizer = 1, .nvme = plan::NvmeStates::all};
  StateCounts counts{.share = {.dense = 8'000'000'000}, .trained = {.dense = 8'000'000'000}};
  EXPECT_DOUBLE_EQ(compute_states(config, counts).nvme.value, 16e9);
  EXPECT_DOUBLE_EQ(compute_states(config, counts).host.value, 4 * 4e8);
  config.plan.offload = {.parameters = true, .nvme = plan::NvmeStates::all};
  counts.share = counts.trained = {.dense = 16'000'000'000};
  EXPECT_DOUBLE_EQ(compute_states(config, counts).nvme.value, 2e9);
  EXPECT_DOUBLE_EQ(compute_states(config, counts).host.value, 2e9 + 5 * 2e8);
}

// The shard of the embedding must fit in a buffer: 262,144 x 8,192 / 8 = 268,435,456 elements.
TEST(States, Nvme_BufferHoldsTheLargestMatrix) {
  plan::TrainingConfig config = sample::dense_config({.dp = 8, .zero = 3});
  EXPECT_EQ(count_nvme_buffer(config), 100'000'000);
  config.model.vocab = 262'144;
  config.model.hidden = 8'192;
  EXPECT_EQ(count_nvme_buffer(config), 268'435'456);
}

// Only ZeRO-3 moves states to drives; one rank is exported with it.
TEST(States, Nvme_NeedsZero3) {
  plan::TrainingConfig config = sample::dense_config({.dp = 8, .zero = 2});
  config.plan.offload = {.optimizer = 1, .nvme = plan::NvmeStates::all};
  EXPECT_EQ(compute_states(config, 0).nvme, 0.0_B);
  config = sample::dense_config({});
  config.plan.offload = {.optimizer = 1, .nvme = plan::NvmeStates::all};
  EXPECT_DOUBLE_EQ(compute_states(config, 0).nvme.value, 16 * kParameters);
}

RC_GTEST_PROP(States, NeverGrowWithTheZeroStageExceptGathered, ()) {
  plan::TrainingConfig config = sample::random_config();
  const auto held = [&](int zero) {
    config.plan.zero = zero;
    const States s = compute_states(config, 0);
    return s.total() - s.gathered;
  };
  for (int zero = 0; zero < 3; ++zero) RC_ASSERT(held(zero + 1) <= held(zero));
}

}  // namespace states_test
}  // namespace rankwright::cost
