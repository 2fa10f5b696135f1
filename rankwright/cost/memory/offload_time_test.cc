#include "rankwright/cost/memory/offload_time.h"

#include <gtest/gtest.h>

#include "rankwright/catalog/catalog.h"
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

// The host updates 8.03e9 parameters at 1.5e9 per second: 5.35 s. A rank sends 8.03e9 / 8 x 4 bytes
// of gradients over 27 GB/s in 149 ms, of which 100 ms run beside the backward, and gets 2 bytes
// per parameter back in 74 ms.
TEST(OffloadTime, OptimizerOfEightBillionParameters) {
  const plan::TrainingConfig config = offloaded();
  const OffloadingRank on{
      .share = {.dense = 8'030'261'248}, .trained = {.dense = 8'030'261'248}, .backward = 0.1_s};
  const OffloadTime time = estimate_offload_time(config, on);
  EXPECT_NEAR(time.exposed.value, 5.3535 + 0.0487 + 0.0744, 0.001);
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

TEST(OffloadTime, IsAnItemOfTheStep) {
  plan::TrainingConfig config = offloaded();
  const cluster::Calibration& c = catalog::get_calibration();
  const StepTime with = estimate_step_time(config, c);
  config.plan.offload = {};
  const StepTime without = estimate_step_time(config, c);
  EXPECT_EQ(without[Item::offload], 0.0_s);
  EXPECT_GT(with[Item::offload], 5.3_s);
  EXPECT_LT(with[Item::optimizer], without[Item::optimizer]);
}

TEST(HostBandwidth, FollowsTheDevice) {
  EXPECT_EQ(find_host_bandwidth(*catalog::find_device("h100-sxm")).value, 55e9);
  EXPECT_EQ(find_host_bandwidth(*catalog::find_device("gh200")).value, 360e9);
  EXPECT_EQ(find_host_bandwidth(*catalog::find_device("rtx-4090")).value, 27e9);
}

}  // namespace offload_time_test
}  // namespace rankwright::cost
