#include "rankwright/report/plan_view.h"

#include "rankwright/export/plan_file.h"
#include "rankwright/report/waterfall_text.h"
#include "rankwright/report/words.h"

namespace rankwright {

std::vector<TargetVerdict> target_verdicts(const Setup& setup) {
  std::vector<TargetVerdict> all;
  for (const TargetRow* target : frameworks_to_check()) {
    TargetVerdict verdict{.target = target};
    for (const Rule* rule : refusals(target->target))
      if (rule->fault(setup)) verdict.broken.push_back(rule);
    all.push_back(std::move(verdict));
  }
  return all;
}

std::string plan_file_text(const Priced& plan, const std::string& command,
                           const std::string& stopped) {
  PlanComments comments;
  comments.head = {command, headline(plan.setup), chips(plan.setup),
                   figures(plan.setup, plan.estimate)};
  if (!stopped.empty()) comments.head.push_back("stopped: " + stopped);
  return plan_yaml(plan.setup, comments);
}

}  // namespace rankwright
