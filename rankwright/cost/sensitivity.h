// How much an Estimate hangs on each constant of the cost model: every one that is not read off a
// data sheet is moved alone, down and up, and the plan priced again. Which would change the
// verdict, or, of two plans, which is the faster. Formula X11.
#pragma once

#include <span>
#include <vector>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/estimate.h"

namespace rankwright::cost {

/// What a plan comes to with one value of one constant.
struct ConstantTrial {
  double value = 0;
  Seconds step{};
  Bytes memory{};
  bool fits = true;
};

struct Sensitivity {
  cluster::Constant constant{};
  ConstantTrial low{}, high{};
  double moves = 0;    // the larger change of the step, as a share of it
  bool flips = false;  // whether it fits

  friend bool operator<(const Sensitivity& a, const Sensitivity& b) { return a.moves > b.moves; }
};

/// How far a constant is moved: a fitted one by a tenth within its bounds, others to their bounds.
struct Bounds {
  double low = 0, high = 0;
};
Bounds bounds_of(const catalog::ConstantRow& row);

/// Those that move the step or the memory, largest first. The config has no violation.
std::vector<Sensitivity> sensitivity(const plan::TrainingConfig& config,
                                     const cluster::Calibration& calibration);

/// One constant, and how much faster the first plan is than the second: time for a token of the
/// second over that of the first, less 1.
struct Rivalry {
  cluster::Constant constant{};
  double low = 0, high = 0;  // of the constant
  double at_low = 0, at_high = 0;
  bool swaps = false;  // the other plan is faster at one end
};

struct Comparison {
  double lead = 0;                // as Rivalry's, with the constants as they are
  std::vector<Rivalry> rivals{};  // that change it, the widest first
};

/// Both configs have no violation; they may differ in everything.
Comparison compare(const plan::TrainingConfig& first, const plan::TrainingConfig& second,
                   const cluster::Calibration& calibration);

}  // namespace rankwright::cost
