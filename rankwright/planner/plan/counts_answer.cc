#include "rankwright/planner/plan/counts_answer.h"

#include <algorithm>
#include <cmath>

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
  // The fastest, within the budget if there is one.
  for (std::size_t k = 0; k < answer.rows.size(); ++k)
    if (answer.rows[k].plan && !exceeds_budget(answer.runs[k], answer.training) &&
        (!answer.chosen || answer.rows[k].plan->time() < answer.chosen_plan().time()))
      answer.chosen = k;
}

std::optional<std::size_t> find_faster_on_fewer(const PlansByCount& answer, std::size_t row) {
  if (!answer.rows[row].plan) return std::nullopt;
  std::optional<std::size_t> fastest;
  for (std::size_t k = 0; k < row; ++k)
    if (answer.rows[k].plan &&
        (!fastest || answer.rows[k].plan->time() < answer.rows[*fastest].plan->time()))
      fastest = k;
  if (!fastest || answer.rows[*fastest].plan->time() > answer.rows[row].plan->time())
    return std::nullopt;
  return fastest;
}

std::optional<std::size_t> find_shortest_run(const PlansByCount& answer) {
  std::optional<std::size_t> shortest;
  for (std::size_t k = 0; k < answer.runs.size(); ++k)
    if (answer.runs[k] && (!shortest || answer.runs[k]->time < answer.runs[*shortest]->time))
      shortest = k;
  return shortest;
}

std::optional<search::Range> find_next_counts(const PlansByCount& answer) {
  const std::optional<std::size_t> shortest = find_shortest_run(answer);
  if (!shortest || !answer.training.deadline ||
      !misses_target(answer.runs[*shortest], answer.training))
    return std::nullopt;
  // More GPUs that are not faster have no rate to extrapolate.
  for (std::size_t k = *shortest + 1; k < answer.rows.size(); ++k)
    if (answer.rows[k].plan) return std::nullopt;
  const i64 host = std::max<i64>(1, answer.problem.config.cluster.host_devices);
  const double needed = double(answer.rows[*shortest].gpus) *
                        (answer.runs[*shortest]->time / *answer.training.deadline);
  if (needed > double(cluster::kMaxDevices)) return std::nullopt;
  const i64 min = ceil_div(i64(std::ceil(needed)), host) * host;
  if (2 * min > cluster::kMaxDevices) return std::nullopt;
  return search::Range{min, 2 * min};
}

}  // namespace rankwright::planner
