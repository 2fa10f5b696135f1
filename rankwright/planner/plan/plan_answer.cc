#include "rankwright/planner/plan/plan_answer.h"

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/memory/memory.h"

namespace rankwright::planner {
namespace {

i64 count_degree_choices(const search::Problem& problem) {
  i64 all = 0;
  for_each_node(problem, [&](const search::Node&) { return ++all > 0; });
  return all;
}

/// Returns the first error of a config, with its numbers; empty if there is none.
std::string describe_violation(const plan::TrainingConfig& config) {
  for (const Diagnostic& found : lint(config, rules::Target::any))
    if (found.severity == Severity::error) return found.detail;
  return {};
}

}  // namespace

void complete_figures(PlanAnswer& answer) {
  const search::Answer& found = answer.answer;
  answer.degree_choices = count_degree_choices(answer.problem);
  for (search::Neighbor& n : answer.neighbors)
    if (n.verdict == search::Neighbor::Verdict::violation) n.detail = describe_violation(n.config);
  if (found.best) {
    const plan::TrainingConfig& best = found.best->config;
    answer.explain_view = make_explain_view(best, found.best->estimate);
    answer.run = estimate_training(best, found.best->estimate, answer.training);
    answer.targets = check_targets(best);
  } else if (found.leanest) {
    const plan::TrainingConfig lean = config_of(answer.problem, found.leanest->plan);
    answer.leanest = LeanestPlan{lean, cost::fullest(lean, select_calibration(lean))};
  }
}

}  // namespace rankwright::planner
