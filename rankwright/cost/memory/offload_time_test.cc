#include "rankwright/cost/memory/offload_time.h"

#include <gtest/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cluster/nvme.h"
#include "rankwright/cost/memory/states.h"
#include "rankwright/cost/step.h"
#include "tests/support/sample.h"

namespace rankwright::cost {
namespace offload_time_test {

plan::TrainingConfig offloaded() {
  plan::TrainingConfig config = sample::config_of(
      *catalog::find_model("llama-3.1-8b"), {.dp = 8, .zero = 2, .offload = {.optimizer = 1}});
  config.cluster = *catalog::find_cluster("dgx-a100");
  config.world = 8;
  config.job.grad_dtype = plan::Dtype::fp32;
  return config;
}

TEST(OffloadTime, WithoutOffload_None) {
  plan::TrainingConfig config = offloaded();
  config.plan.offload = {};
  EXPECT_EQ(estimate_offload_time(config, {}).exposed, 0.0_s);
}

// Eight processes update 8.03e9 parameters at 7.7e9 per second: 1.0429 s. A rank sends 8.03e9 / 8 x
// 4 bytes of gradients over 27 GB/s in 149 ms, of which 100 ms run beside the backward, and gets 2
// bytes per parameter back in 74 ms.
TEST(OffloadTime, OptimizerOfEightBillionParameters) {
  const plan::TrainingConfig config = offloaded();
  const OffloadingRank on{
      .share = {.dense = 8'030'261'248}, .trained = {.dense = 8'030'261'248}, .backward = 0.1_s};
  const OffloadTime time = estimate_offload_time(config, on);
  EXPECT_NEAR(time.exposed.value, 1.0429 + 0.0487 + 0.0744, 0.001);
  EXPECT_NEAR(time.overlapped.value, 0.1, 1e-9);
}

// A link that the cluster states replaces that of the device: 27 GB/s twice as fast.
TEST(OffloadTime, LinkOfTheCluster) {
  plan::TrainingConfig config = offloaded();
  config.plan.offload = {.parameters = true};
  config.plan.zero = 3;
  const OffloadingRank on{.share = {.dense = 8'030'261'248}, .trained = {.dense = 8'030'261'248}};
  const Seconds usual = estimate_offload_time(config, on).exposed;
  config.cluster.host.link = 54.0_GBps;
  EXPECT_NEAR(estimate_offload_time(config, on).exposed / usual, 0.5, 1e-9);
}

// Half of it takes half as long; parameters are read twice per micro-batch.
TEST(OffloadTime, FractionAndParameters) {
  plan::TrainingConfig config = offloaded();
  const OffloadingRank on{.share = {.dense = 8'030'261'248}, .trained = {.dense = 8'030'261'248}};
  const Seconds whole = estimate_offload_time(config, on).exposed;
  config.plan.offload.optimizer = 0.5;
  EXPECT_NEAR(estimate_offload_time(config, on).exposed / whole, 0.5, 1e-9);
  config.plan.offload = {.parameters = true};
  config.plan.zero = 3;
  const double each = 2 * 2 * 8'030'261'248.0 / 8 / 27e9;
  EXPECT_NEAR(estimate_offload_time(config, on).exposed.value, double(config.microbatches()) * each,
              1e-6);
}

/// Returns states on drives that read 20 GB/s and write 10 GB/s per host of eight ranks.
plan::TrainingConfig on_drives(plan::NvmeStates states) {
  plan::TrainingConfig config = offloaded();
  config.plan.zero = 3;
  config.plan.offload = {.optimizer = 1, .parameters = true, .nvme = states};
  config.cluster.host.nvme = {.read = 20.0_GBps, .write = 10.0_GBps};
  return config;
}

// A host reads 16 and writes 12 bytes for each of 8.03e9 parameters: 6.424 s at 20 GB/s and 9.636 s
// at 10 GB/s, beside 1.0429 s of the update. 4 bytes of gradients take 3.2121 s to write, of which
// 1 s run beside the backward. Parameters in host memory need no time here.
TEST(OffloadTime, OptimizerOnNvme_MatchesTheWorkedExample) {
  plan::TrainingConfig config = on_drives(plan::NvmeStates::optimizer);
  config.plan.offload.parameters = false;
  const OffloadingRank on{
      .share = {.dense = 8'030'261'248}, .trained = {.dense = 8'030'261'248}, .backward = 1.0_s};
  const double weights_up = 2 * 8'030'261'248.0 / 8 / 27e9;
  EXPECT_NEAR(estimate_offload_time(config, on).exposed.value,
              6.4242 + 9.6363 + 1.0429 + 2.2121 + weights_up, 0.001);
}

// A rank has a shard of 2e9 parameters, of which 1e9 stay in host memory: 2 GB on the drives. Every
// microbatch reads them twice at 20 / 8 GB/s: 1.6 s, more than 8 GB over the device's 27 GB/s
// take. They are written once per step at 10 / 8 GB/s: 1.6 s.
TEST(OffloadTime, ParametersOnNvme_TheSlowerLinkCounts) {
  plan::TrainingConfig config = on_drives(plan::NvmeStates::parameters);
  config.plan.offload.optimizer = 0;
  const OffloadingRank on{.share = {.dense = 16'000'000'000}, .trained = {.dense = 16'000'000'000}};
  EXPECT_NEAR(estimate_offload_time(config, on).exposed.value,
              1.6 * double(config.microbatches()) + 1.6, 1e-6);
  config.cluster.host.nvme.read = 200.0_GBps;  // now the link of the device is slower
  EXPECT_NEAR(estimate_offload_time(config, on).exposed.value,
              8e9 / 27e9 * double(config.microbatches()) + 1.6, 1e-6);
}

// One drive for data centers if the cluster states none. ZeRO-2 keeps its states in host memory.
TEST(OffloadTime, Nvme_DefaultsAndStages) {
  EXPECT_EQ(cluster::find_nvme({}).read, 6.5_GBps);
  EXPECT_EQ(cluster::find_nvme({}).write, 3.5_GBps);
  plan::TrainingConfig config = on_drives(plan::NvmeStates::optimizer);
  config.plan.offload.parameters = false;
  const OffloadingRank on{.share = {.dense = 8'030'261'248}, .trained = {.dense = 8'030'261'248}};
  config.plan.zero = 2;
  const Seconds host = estimate_offload_time(config, on).exposed;
  config.plan.offload.nvme = plan::NvmeStates::none;
  EXPECT_EQ(estimate_offload_time(config, on).exposed, host);
}

/// Returns the seconds that a host of `ranks` processes needs for 1.4e9 parameters of each.
double update_time(std::string_view framework, i64 ranks, plan::Dtype states = plan::Dtype::fp32) {
  plan::TrainingConfig config = offloaded();
  config.world = config.plan.dp = ranks;
  config.job.moment_dtype = config.job.master_dtype = states;
  for (const plan::Software& row : plan::frameworks())
    if (row.name == framework) config.software = row;
  const i64 parameters = 1'400'000'000 * ranks;
  const OffloadingRank on{
      .share = {.dense = parameters}, .trained = {.dense = parameters}, .backward = 10.0_s};
  const double up = 1.4e9 * count_state_bytes(config).weights / 27e9;
  return estimate_offload_time(config, on).exposed.value - up;
}

// One process of CPU-Adam updates 1.4e9 parameters per second, eight together 1.8e9. PyTorch's
// fused Adam: 1.0e9 each, 7.7e9 together; not fused 0.2e9 each.
TEST(OffloadTime, ProcessesOfAHost_UpdateAtOnce) {
  EXPECT_NEAR(update_time("deepspeed", 1), 1, 1e-6);
  EXPECT_NEAR(update_time("deepspeed", 8), 8 * 1.4 / 1.8, 1e-6);
  EXPECT_NEAR(update_time("megatron-core", 1), 1.4, 1e-6);
  EXPECT_NEAR(update_time("megatron-core", 4), 1.4, 1e-6);
  EXPECT_NEAR(update_time("megatron-core", 8), 8 * 1.4 / 7.7, 1e-6);
  EXPECT_NEAR(update_time("transformers-2024", 8), 7, 1e-6);
}

// With master weights and moments in 16 bits, 4 + 2 x 6 of 28 bytes per parameter remain.
TEST(OffloadTime, StatesInSixteenBits_TakeLess) {
  EXPECT_NEAR(update_time("megatron-core", 1, plan::Dtype::bf16), 1.4 * 16 / 28, 1e-6);
}

// One GPU without shards: 16 GB move to the device and back in every pass, twice per microbatch.
// The way to the device runs beside 10 s of computation, the way back does not.
TEST(OffloadTime, ParametersWithoutShards_AreCopiedBackInTheStreamOfTheComputation) {
  plan::TrainingConfig config = offloaded();
  config.plan.offload = {.parameters = true};
  config.plan.zero = 0;
  config.world = config.plan.dp = 1;
  const OffloadingRank on{.share = {.dense = 8'000'000'000}, .forward = 10.0_s};
  EXPECT_EQ(estimate_offload_time(config, on).exposed, 0.0_s);
  for (const plan::Software& row : plan::frameworks())
    if (row.name == "transformers") config.software = row;
  EXPECT_NEAR(estimate_offload_time(config, on).exposed.value,
              double(config.microbatches()) * 2 * 2 * 8e9 / 27e9, 1e-6);
}

TEST(OffloadTime, IsAnItemOfTheStep) {
  plan::TrainingConfig config = offloaded();
  const cluster::Calibration& c = catalog::get_calibration();
  const StepTime with = estimate_step_time(config, c);
  config.plan.offload = {};
  const StepTime without = estimate_step_time(config, c);
  EXPECT_EQ(without[Item::offload], 0.0_s);
  EXPECT_GT(with[Item::offload], 1.0_s);
  EXPECT_LT(with[Item::optimizer], without[Item::optimizer]);
}

TEST(HostBandwidth, FollowsTheDevice) {
  EXPECT_EQ(find_host_bandwidth(*catalog::find_device("h100-sxm")).value, 55e9);
  EXPECT_EQ(find_host_bandwidth(*catalog::find_device("gh200")).value, 360e9);
  EXPECT_EQ(find_host_bandwidth(*catalog::find_device("rtx-4090")).value, 27e9);
}

}  // namespace offload_time_test
}  // namespace rankwright::cost
