// Fits the constants of the cost model to measured step times and memory: robust least squares on
// the logarithm of predicted over measured, with a prior on every constant. Few constants, many
// rows, and a family of rows counts less than the number of its rows: publications repeat
// themselves. Formula V1.
#pragma once

#include <functional>
#include <vector>

#include "rankwright/catalog/catalog.h"
#include "rankwright/validate/run.h"

namespace rankwright::validate {

/// A Run with every way to fill what it leaves open. Memory decides which of them can be; it does
/// not hang on constants that are fitted to step times, and is found once.
struct Case {
  Run run{};
  std::vector<plan::TrainingConfig>
      options{};  // those that fit; where none does, the one that needs least
};
Case make_case(const Run& run);
std::vector<Case> make_cases(const std::vector<Run>& runs);

/// The fastest predicted of the options: what a run that leaves something open is taken to be.
struct Prediction {
  std::size_t option = 0;
  Seconds step{};
};
Prediction predict(const Case& one, const cluster::Calibration& calibration);

/// The memory figure that the run's source prints.
Bytes memory_figure(const Run& run, const plan::TrainingConfig& config,
                    const cluster::Calibration& calibration);

/// Constants that step times and memory decide, from their priors; where no row decides one, its
/// prior. The others are as shipped.
cluster::Calibration fit(const std::vector<const Case*>& rows);

}  // namespace rankwright::validate
