#include "rankwright/planner/plan/plan_answer.h"

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/memory/memory.h"

namespace rankwright {
namespace {

i64 count_degree_choices(const Problem& problem) {
  i64 all = 0;
  for_each_node(problem, [&](const Node&) { return ++all > 0; });
  return all;
}

/// Returns what arithmetic says against a config, with the numbers; empty where it says nothing.
std::string misfit_detail(const TrainingConfig& config) {
  for (const Diagnostic& found : lint(config, Target::any))
    if (found.severity == Severity::error) return found.detail;
  return {};
}

}  // namespace

void complete_figures(PlanAnswer& answer) {
  const Answer& found = answer.answer;
  answer.degree_choices = count_degree_choices(answer.problem);
  for (Neighbour& n : answer.neighbours)
    if (n.verdict == Neighbour::Verdict::violation) n.detail = misfit_detail(n.config);
  if (found.best) {
    const TrainingConfig& best = found.best->config;
    answer.sheet = make_explain_view(best, found.best->estimate);
    answer.run = estimate_training(best, found.best->estimate, answer.training);
    answer.targets = check_targets(best);
  } else if (found.leanest) {
    const TrainingConfig lean = config_of(answer.problem, found.leanest->plan);
    answer.leanest = LeanestPlan{lean, fullest(lean, calibration(lean))};
  }
}

}  // namespace rankwright
