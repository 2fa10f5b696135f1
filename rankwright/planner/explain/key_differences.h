// Finds the plan-file keys in which two configs differ, with their values as typed.
// export/plan_keys.h gives the value of each key.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/plan/plan.h"

namespace rankwright::planner {

/// A key with the values of two configs. `assumed`: the config's file does not state the key.
struct KeyDifference {
  std::string_view key;
  std::string a, b;
  bool a_assumed = false, b_assumed = false;
};

/// Returns the keys in which the configs differ, in plan-file order.
std::vector<KeyDifference> find_key_differences(const plan::TrainingConfig& a,
                                                const plan::TrainingConfig& b);

}  // namespace rankwright::planner
