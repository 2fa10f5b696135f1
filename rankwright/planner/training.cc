#include "rankwright/planner/training.h"

#include <cmath>

namespace rankwright {

std::optional<Training> estimate_training(const Setup& setup, const Estimate& estimate,
                                          const TrainingAsk& ask) {
  if (!ask.tokens) return std::nullopt;
  const double each = double(setup.job.global_batch) * double(setup.job.sequence);
  Training run{.steps = std::ceil(*ask.tokens / each), .within = estimate.step_band.within};
  run.time = run.steps * estimate.time();
  run.gpu_hours = double(setup.world) * run.time.value / 3600;
  if (ask.price) run.cost = run.gpu_hours * ask.price->amount;
  if (ask.deadline) run.in_time = run.time <= *ask.deadline;
  return run;
}

}  // namespace rankwright
