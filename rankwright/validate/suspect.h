// Suspects: possible causes for a run to be slower or faster than its estimate, each with a
// plausible range, a reason and a suggestion. A suspect changes one property of a trial by a
// factor; the step and timers that the trial then predicts are compared with a log in gap.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/cost/step.h"
#include "rankwright/import/log/run_log.h"
#include "rankwright/plan/plan.h"

namespace rankwright::validate {

/// A config with one changed property.
struct Trial {
  rankwright::plan::TrainingConfig config;
  cluster::Calibration calibration;
  double slow = 1;    // slowdown factor of one rank's computation
  Seconds outside{};  // time between steps, outside all timers of a step
  Seconds loading{};  // the part of `outside` that loads the next batch
};

/// The predicted value of a timer of a log.
struct TimerPrediction {
  std::string_view name;         // as Megatron-LM calls it
  std::string_view entries;      // items of the step that it covers
  importer::TimerSample time{};  // if `both`: of the fastest and the slowest pp rank
};

/// The predicted step and timers of a trial.
struct TrialPrediction {
  cost::StepTime items{};
  Seconds step{};
  std::vector<TimerPrediction> timers{};
};

/// Predicts a trial. Requires: its config has no constraint violation.
TrialPrediction predict_trial(const Trial& trial);

/// One possible cause of a slower or faster run.
struct Suspect {
  std::string name;         // "matmul rate", "infiniband"
  double slower, faster;    // the largest plausible factors in each direction
  std::string_view reason;  // why these factors are plausible
  std::string suggestion;   // what to check or to type
  void (*grow)(Trial& trial, double factor, std::size_t level);  // applies the factor
  std::size_t level = 0;                                         // network level, for links
};

/// Returns the suspects that apply to a config: computation in the order of a step, then links.
std::vector<Suspect> find_suspects(const plan::TrainingConfig& config);

}  // namespace rankwright::validate
