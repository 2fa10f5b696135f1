// Expansion: from a plan to the Program that every rank runs, cells, transfers, bodies and steps
// together. Its totals are Traffic's rows, call for call and byte for byte. No times: simulate.h.
#pragma once

#include "rankwright/base/units.h"
#include "rankwright/program/program.h"

namespace rankwright::program {

/// A bound on the memory that an expansion takes: actions follow microbatches and stages, bodies
/// follow layers, steps follow parameters.
Bytes expansion_bytes(const plan::TrainingConfig& config);

/// Larger expansions are refused. With what is made of it, a step stays below 1 GiB.
inline constexpr Bytes kMaxExpansion{512.0 * 1024 * 1024};

/// The config has no violation, its pipeline_shape no fault, and expansion_bytes is within bounds.
Program expand(const plan::TrainingConfig& config);

}  // namespace rankwright::program
