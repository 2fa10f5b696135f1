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
    for (const DeadlineVerdict verdict : {DeadlineVerdict::meets, DeadlineVerdict::within_error})
      for (std::size_t k = 0; k < answer.rows.size(); ++k)
        if (!answer.chosen && answer.has_verdict(k, verdict)) answer.chosen = k;
    return;
  }
  for (std::size_t k = 0; k < answer.rows.size(); ++k)
    if (answer.rows[k].plan &&
        (!answer.chosen || answer.rows[k].plan->time() < answer.chosen_plan().time()))
      answer.chosen = k;
}

}  // namespace rankwright::planner
