// For the tests of cost/: configs on devices and links that have a speed, so that they can be
// priced. Not part of the library.
#pragma once

#include "rankwright/cost/links.h"
#include "rankwright/cost/rates.h"
#include "rankwright/pipeline/order.h"
#include "tests/support/sample.h"

namespace rankwright::sample {

/// The device that the constants of its generation were fitted on, in round numbers.
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

/// The same config on Hopper devices and one level of 100 GB/s.
inline plan::TrainingConfig timed(plan::TrainingConfig config) {
  config.cluster.device = hopper();
  for (cluster::Level& level : config.cluster.levels) {
    level.bandwidth = 100.0_GBps;
    level.latency = 5.0_us;
  }
  return config;
}

/// Any plan whose pipeline can run.
inline plan::TrainingConfig random_timed() {
  plan::TrainingConfig config = timed(random_setup());
  RC_PRE(!shape_fault(pipeline_shape(config)));
  config.plan.overlap = {coin(), coin(), coin(), coin()};
  return config;
}

/// Constants with which a layer takes what its FLOPs take, and nothing else.
inline cluster::Calibration plain() {
  cluster::Calibration c = catalog::calibration();
  c[cluster::Constant::matmul_bytes] = c[cluster::Constant::wave] =
      c[cluster::Constant::launch_floor] = 0;
  c[cluster::Constant::backward] = 1;
  return c;
}

}  // namespace rankwright::sample
