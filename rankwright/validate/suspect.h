// Suspects: what may make a run slower or faster than its estimate, one row each, with how far that
// plausibly goes, why, and what to try. A suspect changes one thing of a trial by a factor; what
// the trial then predicts, step and timers, is what is compared with a log. Which suspect it was is
// gap.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/cost/step.h"
#include "rankwright/import/log/run_log.h"
#include "rankwright/plan/plan.h"

namespace rankwright::validate {

/// A config as it would run if one thing were otherwise.
struct Trial {
  rankwright::plan::TrainingConfig config;
  cluster::Calibration calibration;
  double slow = 1;    // one rank computes so much longer than the others
  Seconds outside{};  // between steps, where no timer of a step looks
  Seconds loading{};  // of these, for the next batch
};

/// A timer of a log, and what a trial says of it.
struct TimerPrediction {
  std::string_view name;         // as Megatron-LM calls it
  std::string_view entries;      // items of the step that it covers
  importer::TimerSample time{};  // `both`: of the fastest and the slowest pp rank
};

struct TrialPrediction {
  cost::StepTime items{};
  Seconds step{};
  std::vector<TimerPrediction> timers{};
};

/// The config has no violation.
TrialPrediction prophecy(const Trial& trial);

struct Suspect {
  std::string name;         // "matmul rate", "infiniband"
  double slower, faster;    // factors that are plausible
  std::string_view reason;  // why as much
  std::string suggestion;   // what to look at or to type
  void (*grow)(Trial& trial, double factor, std::size_t level);
  std::size_t level = 0;  // of a link
};

/// Those that the config has, in the order of a step.
std::vector<Suspect> suspects(const plan::TrainingConfig& config);

}  // namespace rankwright::validate
