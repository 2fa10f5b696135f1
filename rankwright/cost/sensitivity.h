// The sensitivity of an Estimate to each constant of the cost model that is not from a data sheet:
// each is varied alone, down and up, and the plan is estimated again. It shows which constants
// decide whether a plan fits, or which of two plans is faster. Formula X11.
#pragma once

#include <span>
#include <vector>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/estimate.h"

namespace rankwright::cost {

/// The estimate of a plan with one value of one constant.
struct ConstantTrial {
  double value = 0;
  Seconds step{};
  Bytes memory{};
  MemoryVerdict verdict{};
};

/// The effect of one constant on the estimate of a plan.
struct Sensitivity {
  cluster::Constant constant{};
  ConstantTrial low{}, high{};
  double moves = 0;    // the larger relative change of the step time
  bool flips = false;  // changes the verdict on memory

  friend bool operator<(const Sensitivity& a, const Sensitivity& b) { return a.moves > b.moves; }
};

/// The range over which a constant is varied: a fitted one by a tenth within its bounds, others to
/// their bounds.
struct Bounds {
  double low = 0, high = 0;
};

/// Returns the range over which a constant is varied.
Bounds find_bounds(const catalog::ConstantRow& row);

/// Returns the constants that affect the step time or the memory, by decreasing effect on the step.
/// Requires: the config has no constraint violation.
std::vector<Sensitivity> find_sensitivities(const plan::TrainingConfig& config,
                                            const cluster::Calibration& calibration);

/// The effect of one constant on the lead of a plan over another. The lead is the time per token of
/// the second plan relative to the first, minus 1.
struct Rivalry {
  cluster::Constant constant{};
  double low = 0, high = 0;        // range of the constant
  double at_low = 0, at_high = 0;  // lead at both ends
  bool swaps = false;              // the other plan is faster at one end
};

/// A comparison of two plans.
struct Comparison {
  double lead = 0;                // with the calibrated constants
  std::vector<Rivalry> rivals{};  // constants that change it: those that swap, then by effect
};

/// Compares two plans, which may differ in everything. Requires: neither config has a constraint
/// violation.
Comparison compare(const plan::TrainingConfig& first, const plan::TrainingConfig& second,
                   const cluster::Calibration& calibration);

}  // namespace rankwright::cost
