// What a device reaches with a job under some software: matmuls, attention and streaming kernels,
// from its data sheet and the Calibration. Not what a shape makes of it: that is layer_time.h.
// Formulas R1 to R7.
#pragma once

#include "rankwright/base/units.h"
#include "rankwright/cluster/calibration.h"
#include "rankwright/plan/plan.h"

namespace rankwright::cost {

struct Rates {
  FlopsPerSecond layers{};     // matmuls of the layers, in the format that the job says
  FlopsPerSecond half{};       // matmuls in 16 bits: the output head
  FlopsPerSecond attention{};  // attention's core where it is fused, causal FLOPs
  BytesPerSecond memory{};
  double tile = 0;     // elements of the tiles that one matmul loses in its last wave
  double casts = 0;    // bytes that casts to fewer bits move for each element, 0 in 16 bits
  Seconds launch{};    // least time of a dense layer's pass
  Seconds blocking{};  // added to a layer's forward by launches that nothing hides
  Seconds blocking_back{};
  double wider = 1;  // bytes of an element over the 2 that the formulas count with
};

/// Of the layers of one attention kind: narrow heads are slower.
Rates rates(const plan::TrainingConfig& config, const cluster::Calibration& calibration);

/// Published runs of its generation decided constants.
bool fitted_generation(const cluster::Device& device);

/// Peak of the device in the job's format; bf16 and fp16 stand in for each other.
FlopsPerSecond peak(const cluster::Device& device, plan::Dtype dtype);

/// The same in the format that the layers' matmuls compute in.
FlopsPerSecond layer_peak(const plan::TrainingConfig& config);

}  // namespace rankwright::cost
