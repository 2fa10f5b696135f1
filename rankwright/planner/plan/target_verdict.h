// Checks which frameworks run a plan, and which of their rules it breaks.
#pragma once

#include <vector>

#include "rankwright/rules/rule.h"

namespace rankwright::planner {

/// One framework's verdict on a plan.
struct TargetVerdict {
  const rules::TargetRow* target = nullptr;
  std::vector<const rules::Rule*>
      broken{};  // rules with an error or a warning; empty: the framework runs the plan
};

/// Checks the plan against the rules of every framework.
std::vector<TargetVerdict> check_targets(const plan::TrainingConfig& config);

}  // namespace rankwright::planner
