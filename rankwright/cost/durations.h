// The durations of all cells, transfers and steps of a plan's Program, for its simulation: the
// times of layers, sends and collectives that step.h adds up in closed form. Formula X9.
#pragma once

#include "rankwright/cluster/calibration.h"
#include "rankwright/plan/plan.h"
#include "rankwright/program/simulate.h"

namespace rankwright::cost {

/// Computes the durations of a program. Requires: `program` is the expansion of `config`.
program::Durations compute_durations(const plan::TrainingConfig& config,
                                     const program::Program& program,
                                     const cluster::Calibration& calibration);

}  // namespace rankwright::cost
