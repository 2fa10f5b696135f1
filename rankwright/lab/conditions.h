// What plans that are asked for must be, and the figures that several questions share. Each
// condition says the numbers by which it holds or not.
#pragma once

#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/cost/priced.h"
#include "rankwright/lab/question.h"

namespace rankwright::lab {

Met keeps_task(const plan::TrainingConfig& answer,
               const plan::TrainingConfig& given);  // model, cluster, job, software
Met keeps_degrees(const plan::TrainingConfig& answer,
                  const plan::TrainingConfig& given);  // tp, pp, dp
Met fits_memory(const plan::TrainingConfig& answer, const plan::TrainingConfig& given);
Met keeps_tp_inside(const plan::TrainingConfig& answer, const plan::TrainingConfig& given);
/// No error and no warning of the rules.
Met lints_clean(const plan::TrainingConfig& answer, const plan::TrainingConfig& given);

/// The step is shorter by at least `share` of the given one.
Met faster_by(const plan::TrainingConfig& answer, const plan::TrainingConfig& given, double share);

/// Groups of `kind` lie inside one innermost domain.
Met inside(const plan::TrainingConfig& config, mesh::GroupKind kind);

/// What a step takes, as `explain` says it.
Seconds step_of(const plan::TrainingConfig& config);

/// The collectives of the kind on the pp rank that has most of them; no calls where there are none.
cost::PricedTraffic max(const plan::TrainingConfig& config, plan::TrafficKind kind);
/// All that one rank does in this group, on the pp rank with most calls of it.
std::vector<cost::PricedTraffic> busiest(const plan::TrainingConfig& config, mesh::GroupKind group);
/// Each kind on the pp rank that has most of it: more than any one rank does where the first and
/// the last stage have kinds of their own.
std::vector<cost::PricedTraffic> every_kind(const plan::TrainingConfig& config,
                                            mesh::GroupKind group);

i64 calls(const std::vector<cost::PricedTraffic>& rows);
Bytes bytes_of(const std::vector<cost::PricedTraffic>& rows);
Seconds time_of(const std::vector<cost::PricedTraffic>& rows);

/// Parameters of the whole model.
i64 parameters_of(const plan::TrainingConfig& config);

}  // namespace rankwright::lab
