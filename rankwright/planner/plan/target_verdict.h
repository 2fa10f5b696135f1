// Which frameworks run a plan, and which of their rules it breaks.
#pragma once

#include <vector>

#include "rankwright/rules/rule.h"

namespace rankwright {

/// One framework's verdict on a plan.
struct TargetVerdict {
  const TargetRow* target = nullptr;
  std::vector<const Rule*> broken{};  // errors and warnings, no notes; empty: it runs the plan
};

/// Checks the plan against the rules of every framework.
std::vector<TargetVerdict> check_targets(const TrainingConfig& config);

}  // namespace rankwright
