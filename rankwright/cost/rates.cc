#include "rankwright/cost/rates.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace rankwright::cost {
namespace {

/// A fitted device generation: its constants, and the board power and peak of the device that they
/// were fitted on.
struct GenerationRow {
  std::string_view name;
  cluster::Constant matmul, matmul8;
  cluster::Constant flash2, flash3;
  double watts, tflops;  // 16 bits, dense
};
constexpr GenerationRow kGenerations[] = {
    {"ampere", cluster::Constant::matmul_ampere, cluster::Constant::matmul_ampere,
     cluster::Constant::flash_ampere, cluster::Constant::flash_ampere, 400, 312},
    {"hopper", cluster::Constant::matmul_hopper, cluster::Constant::matmul_hopper_fp8,
     cluster::Constant::flash2_hopper, cluster::Constant::flash3_hopper, 700, 989},
    {"blackwell", cluster::Constant::matmul_blackwell, cluster::Constant::matmul_blackwell_fp8,
     cluster::Constant::flash_blackwell, cluster::Constant::flash_blackwell, 1000, 2250},
};

/// The maximum fraction of the peak that any kernel reaches.
constexpr double kMaxOfPeak = 0.95;

/// Fractions of the peak that kernels reach.
struct Shares {
  double matmul, matmul8, attention;
};

/// R1, R2
Shares find_shares(const cluster::Device& device, plan::AttentionKernel kernel,
                   const cluster::Calibration& c) {
  const FlopsPerSecond peak16 = peak(device, plan::Dtype::bf16);
  for (const GenerationRow& row : kGenerations) {
    if (device.generation != row.name) continue;
    const double tflops = peak16.value / 1e12;
    const double relative =
        device.watts > 0 ? (device.watts / tflops) / (row.watts / row.tflops) : 1;
    // The fitted devices have a ratio of exactly 1, and pow is the most expensive call here.
    const double power = relative == 1 ? 1 : std::pow(relative, c[cluster::Constant::power]);
    const bool newest = kernel == plan::AttentionKernel::fused;
    return {.matmul = std::min(kMaxOfPeak, power * c[row.matmul]),
            .matmul8 = std::min(kMaxOfPeak, power * c[row.matmul8]),
            .attention = std::min(kMaxOfPeak, power * c[newest ? row.flash3 : row.flash2])};
  }
  const double matmul = device.best_matmul.value > 0
                            ? c[cluster::Constant::matmul_measured] * (device.best_matmul / peak16)
                            : c[cluster::Constant::matmul_unknown];
  return {.matmul = matmul, .matmul8 = matmul, .attention = c[cluster::Constant::flash_unknown]};
}

/// Returns the bytes that a cast reads and writes per element: 16 bits in, 8 bits out in two
/// layouts (the backward needs the transposed one); block scales need one more pass.
double cast_bytes(plan::Matmul matmul) { return matmul == plan::Matmul::fp8 ? 4 : 6; }

/// Returns the launch overhead relative to eager mode.
double launch_factor(plan::Launch launch, const cluster::Calibration& c) {
  switch (launch) {
    case plan::Launch::eager:
      return 1;
    case plan::Launch::partial_graphs:
      return c[cluster::Constant::launch_partial];
    case plan::Launch::graphs:
      return c[cluster::Constant::launch_graphs];
    case plan::Launch::compiled:
      return c[cluster::Constant::launch_compiled];
    case plan::Launch::blocking:
      return 0;
  }
  return 1;
}

/// Returns the rate of the experts' matmuls relative to dense ones (L7).
double expert_share(plan::Matmul matmul, const plan::TrainingConfig& config,
                    const cluster::Calibration& c) {
  const plan::Software& software = config.software;
  const bool torch = software.fsdp && software.experts == plan::ExpertKernel::grouped &&
                     config.cluster.device.generation == "blackwell";
  const double kernel = torch ? c[cluster::Constant::grouped_torch] : 1;
  if (matmul == plan::Matmul::same) return kernel;
  return kernel * c[software.experts == plan::ExpertKernel::fused ? cluster::Constant::grouped_fused
                                                                  : cluster::Constant::grouped_fp8];
}

/// Returns the fraction of the memory's bandwidth that a streaming kernel reaches (R4).
double find_memory_share(const cluster::Device& device, const cluster::Calibration& c) {
  return c[device.generation == "blackwell" ? cluster::Constant::memory_share_blackwell
                                            : cluster::Constant::memory_share];
}

/// Returns whether the host is a Grace processor, whose threads are slower than those of x86 hosts.
bool has_grace_host(const cluster::Device& device) {
  constexpr std::string_view kGrace[] = {"gh200", "gb200", "gb300"};
  return std::find(std::begin(kGrace), std::end(kGrace), device.name) != std::end(kGrace);
}

/// Returns the slowdown of launches by the host's processor. Kernels of graphs of the iteration,
/// and of a compiled step, are not launched by the host.
double find_host_factor(const plan::TrainingConfig& config, const cluster::Calibration& c) {
  const plan::Launch launch = config.software.launch;
  const bool launches = launch == plan::Launch::eager || launch == plan::Launch::partial_graphs;
  return launches && has_grace_host(config.cluster.device) ? c[cluster::Constant::launch_grace] : 1;
}

// R7: operations per layer that libtorch launches one by one, counted in runtime/functions.cc.
constexpr double kOperations = 50, kOperationsBack = 70;

/// R6, R7
Rates cpu_rates(const plan::TrainingConfig& config, const cluster::Calibration& c) {
  const cluster::Device& device = config.cluster.device;
  const FlopsPerSecond best =
      device.best_matmul.value > 0 ? device.best_matmul : peak(device, plan::Dtype::bf16);
  FlopsPerSecond rate = c[cluster::Constant::matmul_measured] * best;
  if (config.job.param_dtype == plan::Dtype::fp64) rate = 0.5 * rate;
  if (config.job.param_dtype == plan::Dtype::bf16) rate = peak(device, plan::Dtype::bf16);
  rate = c.pace * rate;
  constexpr double kBytes16 = 2;
  return {.layers = rate,
          .experts = rate,
          .half = rate,
          .attention = rate,
          .memory = c.pace * c[cluster::Constant::memory_share] * device.memory_bandwidth,
          .blocking = kOperations / c.pace * device.launch,
          .blocking_back = kOperationsBack / c.pace * device.launch,
          .wider = double(config.job.activation_bytes()) / kBytes16};
}

}  // namespace

bool fitted_generation(const cluster::Device& device) {
  return std::any_of(std::begin(kGenerations), std::end(kGenerations),
                     [&](const GenerationRow& row) { return device.generation == row.name; });
}

FlopsPerSecond peak(const cluster::Device& device, plan::Dtype dtype) {
  if (dtype == plan::Dtype::fp8 && device.fp8.value > 0) return device.fp8;
  return device.bf16.value > 0 ? device.bf16 : device.fp16;
}

FlopsPerSecond find_layer_peak(const plan::TrainingConfig& config) {
  const cluster::Device& device = config.cluster.device;
  const plan::Matmul matmul = config.job.matmul;
  if (matmul == plan::Matmul::fp4 && device.fp4.value > 0) return device.fp4;
  return peak(device, matmul == plan::Matmul::same ? config.job.param_dtype : plan::Dtype::fp8);
}

std::string_view name_narrow_peak(const plan::TrainingConfig& config) {
  const cluster::Device& device = config.cluster.device;
  const FlopsPerSecond used = find_layer_peak(config);
  if (used == peak(device, plan::Dtype::bf16)) return {};
  return used == device.fp8 ? "fp8" : "fp4";
}

Rates compute_rates(const plan::TrainingConfig& config, const cluster::Calibration& c) {
  const cluster::Device& device = config.cluster.device;
  if (device.cpu()) return cpu_rates(config, c);
  const plan::Software& software = config.software;
  const Shares reached = find_shares(device, software.attention, c);
  const FlopsPerSecond peak16 = peak(device, plan::Dtype::bf16);

  Rates rates;
  rates.half = reached.matmul * peak16;
  // fp32 uses tensor cores as TF32, at half the rate; FSDP computes in 16 bits anyway.
  if (config.job.param_dtype == plan::Dtype::fp32 && !software.fsdp) rates.half = 0.5 * rates.half;
  // No device in the catalog states an fp64 rate; assume half of fp32.
  if (config.job.param_dtype == plan::Dtype::fp64) rates.half = 0.25 * rates.half;
  rates.layers = rates.half;
  plan::Matmul matmul = config.job.matmul;
  if (matmul == plan::Matmul::same && config.job.param_dtype == plan::Dtype::fp8)
    matmul = plan::Matmul::fp8;
  if (matmul == plan::Matmul::fp4 && device.fp4.value > 0)
    rates.layers = c[cluster::Constant::matmul_fp4] * reached.matmul8 * device.fp4;
  else if (matmul != plan::Matmul::same && device.fp8.value > 0)
    rates.layers = reached.matmul8 * device.fp8;
  else
    matmul = plan::Matmul::same;  // the device has no such unit and computes in 16 bits
  if (matmul != plan::Matmul::same)
    rates.casts = c[cluster::Constant::cast_share] * cast_bytes(matmul);
  if (matmul != plan::Matmul::same && software.experts != plan::ExpertKernel::fused)
    rates.expert_casts = cast_bytes(matmul);

  rates.experts = expert_share(matmul, config, c) * rates.layers;

  rates.attention = reached.attention * peak16;
  if (software.attention == plan::AttentionKernel::flash1)
    rates.attention = c[cluster::Constant::flash1] * rates.attention;
  rates.memory = find_memory_share(device, c) * device.memory_bandwidth;
  // R5: a calibration run scales all rates.
  rates.half = c.pace * rates.half;
  rates.layers = c.pace * rates.layers;
  rates.experts = c.pace * rates.experts;
  rates.attention = c.pace * rates.attention;
  rates.memory = c.pace * rates.memory;
  constexpr double kTile = 128.0 * 128.0;
  rates.tile = c[cluster::Constant::wave] * double(device.multiprocessors) * kTile;
  rates.launch = launch_factor(software.launch, c) * find_host_factor(config, c) *
                 c[cluster::Constant::launch_floor] * 1.0_ms;
  if (software.launch == plan::Launch::blocking)
    rates.blocking = rates.blocking_back = c[cluster::Constant::launch_blocking] * 1.0_ms;
  return rates;
}

}  // namespace rankwright::cost
