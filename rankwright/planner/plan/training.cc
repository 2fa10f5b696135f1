#include "rankwright/planner/plan/training.h"

#include <cmath>

namespace rankwright::planner {

std::string_view name(DeadlineVerdict verdict) {
  constexpr std::string_view kNames[] = {"meets", "within error", "misses"};
  return kNames[std::size_t(verdict)];
}

std::optional<Training> estimate_training(const plan::TrainingConfig& config,
                                          const cost::Estimate& estimate,
                                          const TrainingRequest& ask) {
  if (!ask.tokens) return std::nullopt;
  const double each = double(config.job.global_batch) * double(config.job.sequence);
  Training run{.steps = std::ceil(*ask.tokens / each), .within = estimate.step_band.within};
  run.time = run.steps * estimate.time();
  run.gpu_hours = double(config.world) * run.time.value / 3600;
  if (ask.price) run.cost = run.gpu_hours * ask.price->amount;
  if (ask.deadline)
    run.deadline = (1 + run.within) * run.time <= *ask.deadline   ? DeadlineVerdict::meets
                   : (1 - run.within) * run.time <= *ask.deadline ? DeadlineVerdict::within_error
                                                                  : DeadlineVerdict::misses;
  return run;
}

bool exceeds_budget(const std::optional<Training>& run, const TrainingRequest& ask) {
  return run && run->cost && ask.budget && *run->cost > ask.budget->amount;
}

bool misses_target(const std::optional<Training>& run, const TrainingRequest& ask) {
  return exceeds_budget(run, ask) || (run && run->deadline == DeadlineVerdict::misses);
}

}  // namespace rankwright::planner
