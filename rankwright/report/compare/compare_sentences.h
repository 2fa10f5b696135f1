// The sentences of a comparison of two plans: which plans fit, which is faster, and why step times
// are not compared if they are not.
#pragma once

#include <string>

#include "rankwright/planner/compare/compare_view.h"

namespace rankwright::report {

/// The sentences of one comparison.
struct CompareSentences {
  std::string fit{};      // plans that do not fit or may not fit; empty if both fit
  std::string verdict{};  // which takes less time, or that only one can run
  std::string unlike{};   // why step times are not compared; empty if they are
};

/// Compares two plans in sentences. Requires: `view` compares these two configs.
CompareSentences describe_comparison(const plan::TrainingConfig& a, const plan::TrainingConfig& b,
                                     const planner::CompareView& view);

}  // namespace rankwright::report
