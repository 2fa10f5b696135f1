// In which keys of a plan file two Setups differ, with what would be typed there. What a
// TrainingConfig has for a key is export/plan_keys.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/plan/plan.h"

namespace rankwright::planner {

/// A key with the values of two configs; assumed: the config's file left it open.
struct KeyDifference {
  std::string_view key;
  std::string a, b;
  bool a_assumed = false, b_assumed = false;
};
std::vector<KeyDifference> key_differences(const plan::TrainingConfig& a,
                                           const plan::TrainingConfig& b);

}  // namespace rankwright::planner
