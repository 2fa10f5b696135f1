// Expansion: turns a plan into the Program that every rank runs (cells, transfers, bodies and
// steps). Its totals equal Traffic's rows in calls and bytes. Times are added by simulate.h.
#pragma once

#include "rankwright/base/units.h"
#include "rankwright/program/program.h"

namespace rankwright::program {

/// Returns an upper bound on the memory of an expansion: actions grow with microbatches and stages,
/// bodies with layers, steps with parameters.
Bytes bound_expansion_bytes(const plan::TrainingConfig& config);

/// Larger expansions are refused. Together with the data derived from it, an expansion then stays
/// below 1 GiB.
inline constexpr Bytes kMaxExpansion{512.0 * 1024 * 1024};

/// Expands a plan. Requires: the config has no constraint violation, its pipeline_shape has no
/// fault, and expansion_bytes(config) <= kMaxExpansion.
Program expand(const plan::TrainingConfig& config);

}  // namespace rankwright::program
