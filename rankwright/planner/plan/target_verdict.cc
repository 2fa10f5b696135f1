#include "rankwright/planner/plan/target_verdict.h"

namespace rankwright::planner {

std::vector<TargetVerdict> check_targets(const plan::TrainingConfig& config) {
  std::vector<TargetVerdict> all;
  for (const rules::TargetRow* target : rules::frameworks_to_check()) {
    TargetVerdict verdict{.target = target};
    for (const rules::Rule* rule : find_refusals(target->target))
      if (rule->fault(config)) verdict.broken.push_back(rule);
    all.push_back(std::move(verdict));
  }
  return all;
}

}  // namespace rankwright::planner
