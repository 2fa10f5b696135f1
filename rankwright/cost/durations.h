// What every cell, transfer and step of a plan's Program takes, so that it can be played: the same
// times of layers, sends and collectives that step.h adds up in closed form. Formula X9.
#pragma once

#include "rankwright/cluster/calibration.h"
#include "rankwright/plan/plan.h"
#include "rankwright/program/play.h"

namespace rankwright {

/// The program is the setup's expansion.
Durations durations(const Setup& setup, const Program& program, const Calibration& calibration);

}  // namespace rankwright
