#include "rankwright/planner/plan/counts_answer.h"

namespace rankwright::planner {

void choose_count(PlansByCount& answer) {
  answer.runs.clear();
  answer.chosen.reset();
  for (const search::CountRow& row : answer.rows)
    answer.runs.push_back(
        row.plan ? estimate_training(row.plan->config, row.plan->estimate, answer.training)
                 : std::nullopt);
  for (std::size_t k = 0; k < answer.rows.size(); ++k) {
    if (!answer.rows[k].plan) continue;
    if (answer.training.deadline) {
      if (!answer.runs[k] || !answer.runs[k]->in_time.value_or(false)) continue;
      answer.chosen = k;
      return;
    }
    if (!answer.chosen || answer.rows[k].plan->time() < answer.chosen_plan().time())
      answer.chosen = k;
  }
}

}  // namespace rankwright::planner
