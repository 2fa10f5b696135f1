#include "rankwright/planner/plan/training.h"

#include <cmath>

namespace rankwright::planner {

std::optional<Training> estimate_training(const plan::TrainingConfig& config,
                                          const cost::Estimate& estimate,
                                          const TrainingRequest& ask) {
  if (!ask.tokens) return std::nullopt;
  const double each = double(config.job.global_batch) * double(config.job.sequence);
  Training run{.steps = std::ceil(*ask.tokens / each), .within = estimate.step_band.within};
  run.time = run.steps * estimate.time();
  run.gpu_hours = double(config.world) * run.time.value / 3600;
  if (ask.price) run.cost = run.gpu_hours * ask.price->amount;
  if (ask.deadline) run.in_time = run.time <= *ask.deadline;
  return run;
}

}  // namespace rankwright::planner
