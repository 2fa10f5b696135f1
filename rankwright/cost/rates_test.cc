#include "rankwright/cost/rates.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "rankwright/catalog/catalog.h"
#include "tests/support/timed_configs.h"

namespace rankwright::cost {
namespace rates_test {

using sample::hopper;

Rates rates_on(const cluster::Device& device, plan::Matmul matmul = plan::Matmul::same) {
  rankwright::plan::TrainingConfig config = sample::timed(sample::dense_config({}));
  config.cluster.device = device;
  config.job.matmul = matmul;
  return compute_rates(config, catalog::get_calibration());
}

TEST(Rates, FittedDeviceUsesItsConstants) {
  const cluster::Calibration& c = catalog::get_calibration();
  const Rates r = rates_on(hopper());
  EXPECT_DOUBLE_EQ(r.half.value, c[cluster::Constant::matmul_hopper] * 989e12);
  EXPECT_EQ(r.layers, r.half);
  EXPECT_DOUBLE_EQ(r.attention.value, c[cluster::Constant::flash3_hopper] * 989e12);
  EXPECT_DOUBLE_EQ(r.memory.value, c[cluster::Constant::memory_share] * 3000e9);
  EXPECT_EQ(r.casts, 0);
}

TEST(LayerPeak, UsesTheBestSupportedFormat) {
  rankwright::plan::TrainingConfig config = sample::timed(sample::dense_config({}));
  EXPECT_EQ(find_layer_peak(config), 989.0_TFLOPS);
  config.job.matmul = plan::Matmul::mxfp8;
  EXPECT_EQ(find_layer_peak(config), 1979.0_TFLOPS);
  // Hopper has no fp4 and uses the next best format.
  config.job.matmul = plan::Matmul::fp4;
  EXPECT_EQ(find_layer_peak(config), 1979.0_TFLOPS);
  config.cluster.device.fp4 = 4000.0_TFLOPS;
  EXPECT_EQ(find_layer_peak(config), 4000.0_TFLOPS);
}

TEST(Rates, DecreaseWithLessPowerPerPeakFlop) {
  // A board of 350 W with the same units has half of the watts per FLOP, so the share falls by
  // 0.5^power.
  cluster::Device board = hopper();
  board.watts = 350;
  const double power = std::pow(0.5, catalog::get_calibration()[cluster::Constant::power]);
  EXPECT_NEAR(rates_on(board).half / rates_on(hopper()).half, power, 1e-12);
}

TEST(Rates, BlackwellStreamsALowerShareOfItsBandwidth) {
  cluster::Device blackwell = hopper();
  blackwell.generation = "blackwell";
  EXPECT_DOUBLE_EQ(rates_on(blackwell).memory.value,
                   catalog::get_calibration()[cluster::Constant::memory_share_blackwell] * 3000e9);
}

TEST(Rates, GraceHostsLaunchMoreSlowlyExceptGraphs) {
  rankwright::plan::TrainingConfig config = sample::timed(sample::dense_config({}));
  const auto launch = [&](std::string name, plan::Launch how) {
    config.cluster.device.name = std::move(name);
    config.software.launch = how;
    return compute_rates(config, catalog::get_calibration()).launch;
  };
  const double grace = catalog::get_calibration()[cluster::Constant::launch_grace];
  for (const plan::Launch how : {plan::Launch::eager, plan::Launch::partial_graphs})
    EXPECT_DOUBLE_EQ(launch("gh200", how) / launch("h", how), grace);
  EXPECT_EQ(launch("gb300", plan::Launch::graphs), launch("h", plan::Launch::graphs));
}

TEST(Rates, TorchsGroupedMatmulsAreSlowerOnBlackwell) {
  rankwright::plan::TrainingConfig config = sample::timed(sample::dense_config({}));
  const auto share = [&] {
    const Rates r = compute_rates(config, catalog::get_calibration());
    return r.experts / r.layers;
  };
  config.software.fsdp = true;
  EXPECT_DOUBLE_EQ(share(), 1);
  config.cluster.device.generation = "blackwell";
  EXPECT_DOUBLE_EQ(share(), catalog::get_calibration()[cluster::Constant::grouped_torch]);
}

TEST(Rates, UnknownGenerationIsMeasuredOrAssumed) {
  const cluster::Calibration& c = catalog::get_calibration();
  cluster::Device other = hopper();
  other.generation = "other";
  EXPECT_FALSE(fitted_generation(other));
  EXPECT_DOUBLE_EQ(rates_on(other).half.value, c[cluster::Constant::matmul_unknown] * 989e12);
  other.best_matmul = 500.0_TFLOPS;
  EXPECT_DOUBLE_EQ(rates_on(other).half.value, c[cluster::Constant::matmul_measured] * 500e12);
}

TEST(Rates, ProbedCpuUsesMeasuredRates) {
  rankwright::plan::TrainingConfig config = sample::timed(sample::dense_config({}));
  config.cluster.device = {.name = "cpu",
                           .memory = 1.0_GB,
                           .memory_bandwidth = 4.0_GBps,
                           .bf16 = 0.06_TFLOPS,
                           .generation = "cpu",
                           .best_matmul = 0.02_TFLOPS,
                           .launch = 2.0_us};
  const auto found = [&](plan::Dtype dtype) {
    config.job.param_dtype = dtype;
    return compute_rates(config, select_calibration(config));
  };
  // Without tensor cores: fp32 at the measured rate, fp64 at half of it, bf16 at its own rate.
  EXPECT_EQ(found(plan::Dtype::fp32).layers, 0.02_TFLOPS);
  EXPECT_EQ(found(plan::Dtype::fp32).half, 0.02_TFLOPS);
  EXPECT_EQ(found(plan::Dtype::fp64).layers, 0.01_TFLOPS);
  EXPECT_EQ(found(plan::Dtype::bf16).layers, 0.06_TFLOPS);
  EXPECT_EQ(found(plan::Dtype::fp32).memory, 4.0_GBps);
  // 50 operations in the forward and 70 in the backward, 2 us each.
  EXPECT_DOUBLE_EQ(found(plan::Dtype::fp32).blocking.value, 100e-6);
  EXPECT_DOUBLE_EQ(found(plan::Dtype::fp32).blocking_back.value, 140e-6);
  EXPECT_EQ(found(plan::Dtype::fp32).wider, 2);
  EXPECT_EQ(found(plan::Dtype::bf16).wider, 1);
}

TEST(Rates, EightBitsAreNeverSlowerOnHopper) {
  for (const plan::Matmul matmul : {plan::Matmul::fp8, plan::Matmul::mxfp8}) {
    EXPECT_GT(rates_on(hopper(), matmul).layers, rates_on(hopper()).layers);
    EXPECT_EQ(rates_on(hopper(), matmul).half, rates_on(hopper()).half);
    EXPECT_GT(rates_on(hopper(), matmul).casts, 0);
  }
}

TEST(Rates, CastsMoveTheBytesOfTheirFormat) {
  // 16 bits in and twice 8 bits out: 4 bytes; block scales need another pass of 2.
  const double share = catalog::get_calibration()[cluster::Constant::cast_share];
  EXPECT_DOUBLE_EQ(rates_on(hopper(), plan::Matmul::fp8).casts, 4 * share);
  EXPECT_DOUBLE_EQ(rates_on(hopper(), plan::Matmul::mxfp8).casts, 6 * share);
}

TEST(Rates, FourBitsScaleWithEightBits) {
  cluster::Device device = hopper();
  device.fp4 = 4000.0_TFLOPS;
  const cluster::Calibration& c = catalog::get_calibration();
  EXPECT_DOUBLE_EQ(
      rates_on(device, plan::Matmul::fp4).layers.value,
      c[cluster::Constant::matmul_fp4] * c[cluster::Constant::matmul_hopper_fp8] * 4000e12);
}

TEST(Rates, Fp32IsHalfUnlessFsdpCasts) {
  rankwright::plan::TrainingConfig config = sample::timed(sample::dense_config({}));
  const FlopsPerSecond half = compute_rates(config, catalog::get_calibration()).half;
  config.job.param_dtype = plan::Dtype::fp32;
  EXPECT_EQ(compute_rates(config, catalog::get_calibration()).half, 0.5 * half);
  config.software.fsdp = true;
  EXPECT_EQ(compute_rates(config, catalog::get_calibration()).half, half);
}

TEST(Rates, Fp64IsAQuarterInEveryFramework) {
  rankwright::plan::TrainingConfig config = sample::timed(sample::dense_config({}));
  const Rates sixteen = compute_rates(config, catalog::get_calibration());
  config.job.param_dtype = plan::Dtype::fp64;
  EXPECT_EQ(compute_rates(config, catalog::get_calibration()).half, 0.25 * sixteen.half);
  config.software.fsdp = true;
  EXPECT_EQ(compute_rates(config, catalog::get_calibration()).layers, 0.25 * sixteen.half);
}

TEST(Rates, UnsupportedFormatsUseSixteenBits) {
  cluster::Device old = hopper();
  old.fp8 = {};
  EXPECT_EQ(rates_on(old, plan::Matmul::fp8).layers, rates_on(old).layers);
  EXPECT_EQ(rates_on(old, plan::Matmul::fp8).casts, 0);
}

TEST(Peak, Fp16ReplacesMissingBf16) {
  cluster::Device old{.fp16 = 125.0_TFLOPS};
  EXPECT_EQ(peak(old, plan::Dtype::bf16), 125.0_TFLOPS);
  EXPECT_EQ(peak(old, plan::Dtype::fp8), 125.0_TFLOPS);
  EXPECT_EQ(peak(hopper(), plan::Dtype::fp8), 1979.0_TFLOPS);
}

RC_GTEST_PROP(Rates, StayBelowThePeak, ()) {
  cluster::Device board = hopper();
  board.generation = *rc::gen::element(std::string("ampere"), std::string("hopper"),
                                       std::string("blackwell"), std::string("none"));
  board.watts = double(*rc::gen::inRange(0, 3000));
  const Rates r = rates_on(board, plan::Matmul(*rc::gen::inRange(0, 4)));
  RC_ASSERT(r.half.value > 0 && r.half < board.bf16);
  RC_ASSERT(r.layers.value > 0 && r.layers < board.fp8);
  RC_ASSERT(r.attention.value > 0 && r.attention < board.bf16);
}

}  // namespace rates_test
}  // namespace rankwright::cost
