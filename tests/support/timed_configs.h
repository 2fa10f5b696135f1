// Configs for the tests of cost/ on devices and links with realistic speeds, so that their time can
// be estimated.
#pragma once

#include "rankwright/cost/links.h"
#include "rankwright/cost/rates.h"
#include "rankwright/pipeline/order.h"
#include "tests/support/sample.h"

namespace rankwright::sample {

/// Returns the device that the constants of its generation were fitted on, in round numbers.
inline cluster::Device hopper() {
  return {.name = "h",
          .memory = 80.0_GB,
          .memory_bandwidth = 3000.0_GBps,
          .fp16 = 989.0_TFLOPS,
          .bf16 = 989.0_TFLOPS,
          .fp8 = 1979.0_TFLOPS,
          .generation = "hopper",
          .multiprocessors = 132,
          .watts = 700};
}

/// Returns the config on Hopper devices and levels of 100 GB/s.
inline plan::TrainingConfig timed(plan::TrainingConfig config) {
  config.cluster.device = hopper();
  for (cluster::Level& level : config.cluster.levels) {
    level.bandwidth = 100.0_GBps;
    level.latency = 5.0_us;
  }
  return config;
}

/// Makes a config with any plan whose pipeline can run.
inline plan::TrainingConfig random_timed_config() {
  plan::TrainingConfig config = timed(random_config());
  RC_PRE(!find_shape_fault(make_pipeline_shape(config)));
  config.plan.overlap = {coin(), coin(), coin(), coin(), coin()};
  return config;
}

/// Returns constants with which a layer takes exactly the time of its FLOPs.
inline cluster::Calibration plain() {
  cluster::Calibration c = catalog::get_calibration();
  c[cluster::Constant::matmul_bytes] = c[cluster::Constant::wave] =
      c[cluster::Constant::launch_floor] = c[cluster::Constant::tile_start] = 0;
  c[cluster::Constant::backward] = 1;
  return c;
}

}  // namespace rankwright::sample
