// Conditions for the plans that labs ask for, and figures that several questions share. The result
// of each condition has the numbers that decide it.
#pragma once

#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/cost/traffic_cost.h"
#include "rankwright/lab/question.h"

namespace rankwright::lab {

/// Checks that the plan has the given model, cluster, job and software.
ConditionResult keeps_task(const plan::TrainingConfig& answer, const plan::TrainingConfig& given);

/// Checks that the plan has the given tp, pp, dp and cp degrees.
ConditionResult keeps_degrees(const plan::TrainingConfig& answer,
                              const plan::TrainingConfig& given);

/// Checks that the plan fits in memory.
ConditionResult fits_memory(const plan::TrainingConfig& answer, const plan::TrainingConfig& given);

/// Checks that tensor-parallel groups stay inside one node.
ConditionResult keeps_tp_inside(const plan::TrainingConfig& answer,
                                const plan::TrainingConfig& given);

/// Checks that the rules report no error and no warning.
ConditionResult lints_clean(const plan::TrainingConfig& answer, const plan::TrainingConfig& given);

/// Checks that the step is shorter than the given one by at least `share`.
ConditionResult faster_by(const plan::TrainingConfig& answer, const plan::TrainingConfig& given,
                          double share);

/// Checks that groups of `kind` are inside one innermost domain.
ConditionResult inside(const plan::TrainingConfig& config, mesh::GroupKind kind);

/// Returns the step time, as `explain` shows it.
Seconds step_time_of(const plan::TrainingConfig& config);

/// Returns the collectives of the kind on the pp rank that has the most calls; without calls if
/// there are none.
cost::TrafficCost find_max_traffic(const plan::TrainingConfig& config, plan::TrafficKind kind);

/// Returns all collectives of one rank in this group, on the pp rank with the most calls.
std::vector<cost::TrafficCost> find_busiest_traffic(const plan::TrainingConfig& config,
                                                    mesh::GroupKind group);

/// Returns each kind of collective from the pp rank that has the most of it. The sum is more than
/// any one rank does if the first and the last stage have kinds of their own.
std::vector<cost::TrafficCost> list_traffic_by_kind(const plan::TrainingConfig& config,
                                                    mesh::GroupKind group);

/// Returns the sum of calls.
i64 calls(const std::vector<cost::TrafficCost>& rows);

/// Returns the sum of bytes.
Bytes sum_bytes(const std::vector<cost::TrafficCost>& rows);

/// Returns the sum of times.
Seconds sum_times(const std::vector<cost::TrafficCost>& rows);

/// Returns the parameters of the whole model.
i64 count_parameters(const plan::TrainingConfig& config);

}  // namespace rankwright::lab
