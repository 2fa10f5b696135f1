#include "rankwright/planner/plan/counts_answer.h"

namespace rankwright::planner {

void choose_count(PlansByCount& answer) {
  answer.runs.clear();
  answer.chosen.reset();
  for (const search::CountRow& row : answer.rows)
    answer.runs.push_back(
        row.plan ? estimate_training(row.plan->config, row.plan->estimate, answer.training)
                 : std::nullopt);
  if (answer.training.deadline) {
    // The fewest that meet it at every error; else the fastest of those that may.
    for (std::size_t k = 0; k < answer.rows.size(); ++k)
      if (!answer.chosen && answer.has_verdict(k, DeadlineVerdict::meets)) answer.chosen = k;
    if (answer.chosen) return;
    for (std::size_t k = 0; k < answer.rows.size(); ++k)
      if (answer.has_verdict(k, DeadlineVerdict::within_error) &&
          (!answer.chosen || answer.runs[k]->time < answer.runs[*answer.chosen]->time))
        answer.chosen = k;
    return;
  }
  for (std::size_t k = 0; k < answer.rows.size(); ++k)
    if (answer.rows[k].plan &&
        (!answer.chosen || answer.rows[k].plan->time() < answer.chosen_plan().time()))
      answer.chosen = k;
}

}  // namespace rankwright::planner
