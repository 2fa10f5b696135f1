// What every cell, transfer and step of a plan's Program takes, so that it can be played: the FLOPs
// of a body at an assumed share of the data sheet's peak, and the collectives that computation
// waits for, one after another. A first model, all of it assumed. Formulas O1 and O4.
#pragma once

#include "rankwright/plan/plan.h"
#include "rankwright/program/play.h"

namespace rankwright {

/// The program is the setup's expansion.
Durations durations(const Setup& setup, const Program& program);

}  // namespace rankwright
