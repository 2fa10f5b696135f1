#include "rankwright/planner/plan/target_verdict.h"

namespace rankwright {

std::vector<TargetVerdict> check_targets(const TrainingConfig& config) {
  std::vector<TargetVerdict> all;
  for (const TargetRow* target : frameworks_to_check()) {
    TargetVerdict verdict{.target = target};
    for (const Rule* rule : refusals(target->target))
      if (rule->fault(config)) verdict.broken.push_back(rule);
    all.push_back(std::move(verdict));
  }
  return all;
}

}  // namespace rankwright
