// The rates that a device reaches for matmuls, attention and memory-bound kernels with a given job
// and software, from its data sheet and the Calibration (formulas R1 to R7). The effect of matrix
// shapes is in layer_time.h.
#pragma once

#include "rankwright/base/units.h"
#include "rankwright/cluster/calibration.h"
#include "rankwright/plan/plan.h"

namespace rankwright::cost {

/// The rates that a device reaches in one job.
struct Rates {
  FlopsPerSecond layers{};     // matmuls of the layers, in the job's matmul format
  FlopsPerSecond experts{};    // matmuls of the experts of a rank, in the same format
  FlopsPerSecond half{};       // 16-bit matmuls: the output head
  FlopsPerSecond attention{};  // fused attention core, causal FLOPs; narrow heads are slower (L2)
  BytesPerSecond memory{};
  double tile = 0;          // elements of the tiles that one matmul loses in its last wave
  double casts = 0;         // bytes per element moved by casts to fewer bits; 0 in 16 bits
  double expert_casts = 0;  // the same for experts, whose casts no other kernel does
  Seconds launch{};         // minimum time of one pass of a dense layer, due to kernel launches
  Seconds blocking{};       // added to a layer's forward by launches that do not overlap
  Seconds blocking_back{};  // added to a layer's backward, likewise
  double wider = 1;         // bytes per activation element over the 2 that the formulas assume
};

/// Computes the rates of a config's device.
Rates compute_rates(const plan::TrainingConfig& config, const cluster::Calibration& calibration);

/// Returns whether constants were fitted to published runs of the device's generation.
bool fitted_generation(const cluster::Device& device);

/// Returns the dense peak of the device in a format. All formats but fp8 use the bf16 peak, or fp16
/// if bf16 is unknown.
FlopsPerSecond peak(const cluster::Device& device, plan::Dtype dtype);

/// Returns the dense peak in the format of the layers' matmuls.
FlopsPerSecond find_layer_peak(const plan::TrainingConfig& config);
/// Returns the format of that peak if it is narrower than 16 bits: "fp8", "fp4"; else empty.
std::string_view name_narrow_peak(const plan::TrainingConfig& config);

}  // namespace rankwright::cost
