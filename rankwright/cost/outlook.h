// A first look at where a step's time goes: enough to name the likely bottleneck, not to choose
// between plans. Compute runs at an assumed share of the data sheet's peak. Formulas O1 to O3.
#pragma once

#include <string_view>
#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/cost/priced.h"
#include "rankwright/plan/plan.h"

namespace rankwright {

/// What matmuls reach of the peak where nothing is calibrated.
inline constexpr double kAssumedEfficiency = 0.5;

struct Outlook {
  Seconds compute{};  // of the busiest pp rank
  Seconds tensor{};   // tp, cp and ep collectives: on the critical path
  Seconds context{};
  Seconds expert{};
  Seconds pipeline{};  // sends and receives
  Seconds bubble{};
  Seconds mirror{};      // DualPipe: gradients between the two ranks of a stage, behind all else
  Seconds data{};        // gradients and ZeRO, all of it
  Seconds data_shown{};  // what backward (or forward and backward, for gathers) does not hide

  /// What stops the step besides compute, largest first.
  struct Part {
    std::string_view name;
    Seconds time;
  };
  std::vector<Part> parts() const;
  Seconds step() const;
};

/// Peak of the device in the job's format; bf16 and fp16 stand in for each other.
FlopsPerSecond peak(const Device& device, Dtype dtype);

/// The setup has no misfit. `rows` are those of the pp rank with the most traffic.
Outlook outlook(const Setup& setup, const std::vector<PricedTraffic>& rows);

}  // namespace rankwright
