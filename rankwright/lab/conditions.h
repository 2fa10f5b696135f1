// Conditions for the plans that labs ask for, and figures that several questions share. The result
// of each condition has the numbers that decide it.
#pragma once

#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/cost/priced.h"
#include "rankwright/lab/question.h"

namespace rankwright::lab {

/// Checks that the plan has the given model, cluster, job and software.
Met keeps_task(const plan::TrainingConfig& answer, const plan::TrainingConfig& given);

/// Checks that the plan has the given tp, pp, dp and cp degrees.
Met keeps_degrees(const plan::TrainingConfig& answer, const plan::TrainingConfig& given);

/// Checks that the plan fits in memory.
Met fits_memory(const plan::TrainingConfig& answer, const plan::TrainingConfig& given);

/// Checks that tensor-parallel groups stay inside one node.
Met keeps_tp_inside(const plan::TrainingConfig& answer, const plan::TrainingConfig& given);

/// Checks that the rules report no error and no warning.
Met lints_clean(const plan::TrainingConfig& answer, const plan::TrainingConfig& given);

/// Checks that the step is shorter than the given one by at least `share`.
Met faster_by(const plan::TrainingConfig& answer, const plan::TrainingConfig& given, double share);

/// Checks that groups of `kind` are inside one innermost domain.
Met inside(const plan::TrainingConfig& config, mesh::GroupKind kind);

/// Returns the step time, as `explain` shows it.
Seconds step_of(const plan::TrainingConfig& config);

/// Returns the collectives of the kind on the pp rank that has the most calls; without calls if
/// there are none.
cost::PricedTraffic max(const plan::TrainingConfig& config, plan::TrafficKind kind);

/// Returns all collectives of one rank in this group, on the pp rank with the most calls.
std::vector<cost::PricedTraffic> busiest(const plan::TrainingConfig& config, mesh::GroupKind group);

/// Returns each kind of collective from the pp rank that has the most of it. The sum is more than
/// any one rank does if the first and the last stage have kinds of their own.
std::vector<cost::PricedTraffic> every_kind(const plan::TrainingConfig& config,
                                            mesh::GroupKind group);

/// Returns the sum of calls.
i64 calls(const std::vector<cost::PricedTraffic>& rows);

/// Returns the sum of bytes.
Bytes bytes_of(const std::vector<cost::PricedTraffic>& rows);

/// Returns the sum of times.
Seconds time_of(const std::vector<cost::PricedTraffic>& rows);

/// Returns the parameters of the whole model.
i64 parameters_of(const plan::TrainingConfig& config);

}  // namespace rankwright::lab
