// What every cell, transfer and step of a plan's Program takes, so that it can be simulated: the
// same times of layers, sends and collectives that step.h adds up in closed form. Formula X9.
#pragma once

#include "rankwright/cluster/calibration.h"
#include "rankwright/plan/plan.h"
#include "rankwright/program/simulate.h"

namespace rankwright::cost {

/// The program is the config's expansion.
program::Durations durations(const plan::TrainingConfig& config, const program::Program& program,
                             const cluster::Calibration& calibration);

}  // namespace rankwright::cost
