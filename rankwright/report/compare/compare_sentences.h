// Sentences of a comparison of two plans: what fits, which plan is faster, and why steps
// are not compared where they are not.
#pragma once

#include <string>

#include "rankwright/planner/compare/compare_view.h"

namespace rankwright::report {

struct CompareWords {
  std::string fit{};  // what does not fit, or not for sure; empty where nothing is to be said
  std::string verdict{};
  std::string unlike{};  // why steps are not compared; empty where they are
};

/// Requires: `view` compares these two configs.
CompareWords compare_words(const plan::TrainingConfig& a, const plan::TrainingConfig& b,
                           const planner::CompareView& view);

}  // namespace rankwright::report
