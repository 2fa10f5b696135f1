// Fits the constants of the cost model to measured step times and memory: robust least squares on
// ln(predicted / measured), with a prior on every constant (formula V1). A family of n rows weighs
// only sqrt(n), because rows of one publication are similar. Runs of dense models determine their
// constants alone; those of experts are fitted afterward.
#pragma once

#include <functional>
#include <vector>

#include "rankwright/catalog/catalog.h"
#include "rankwright/validate/run.h"

namespace rankwright::validate {

/// A Run with all configs that it may stand for, given the settings that its source does not state.
/// Memory limits them; it does not depend on constants fitted to step times, so it is computed
/// once.
struct Case {
  Run run{};
  /// The configs that fit the device; if none does, the one with the least memory.
  std::vector<plan::TrainingConfig> options{};
};

/// Finds the options of a run.
Case make_case(const Run& run);
std::vector<Case> make_cases(const std::vector<Run>& runs);

/// The option with the shortest predicted step, which a run with unstated settings is assumed to
/// be.
struct Prediction {
  std::size_t option = 0;  // index in Case::options
  Seconds step{};
};

/// Predicts a case with the fastest of its options.
Prediction predict(const Case& one, const cluster::Calibration& calibration);

/// Predicts the memory figure that the run's source reports.
Bytes memory_figure(const Run& run, const plan::TrainingConfig& config,
                    const cluster::Calibration& calibration);

/// Fits the constants that step times and memory determine, starting from their priors; a constant
/// that no row determines stays at its prior. All other constants are as shipped.
cluster::Calibration fit(const std::vector<const Case*>& rows);

}  // namespace rankwright::validate
