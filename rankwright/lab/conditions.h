// What plans that are asked for must be, and the figures that several questions share. Each
// condition says the numbers by which it holds or not.
#pragma once

#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/cost/priced.h"
#include "rankwright/lab/question.h"

namespace rankwright {

Met keeps_task(const Setup& answer, const Setup& given);     // model, cluster, job, software
Met keeps_degrees(const Setup& answer, const Setup& given);  // tp, pp, dp
Met fits_memory(const Setup& answer, const Setup& given);
Met keeps_tp_inside(const Setup& answer, const Setup& given);
/// No error and no warning of the rules.
Met lints_clean(const Setup& answer, const Setup& given);

/// The step is shorter by at least `share` of the given one.
Met faster_by(const Setup& answer, const Setup& given, double share);

/// Groups of `kind` lie inside one innermost domain.
Met inside(const Setup& setup, GroupKind kind);

/// What a step takes, as `explain` says it.
Seconds step_of(const Setup& setup);

/// The collectives of the kind on the pp rank that has most of them; no calls where there are none.
PricedTraffic most(const Setup& setup, TrafficKind kind);
/// All that one rank does in this group, on the pp rank with most calls of it.
std::vector<PricedTraffic> busiest(const Setup& setup, GroupKind group);
/// Each kind on the pp rank that has most of it: more than any one rank does where the first and
/// the last stage have kinds of their own.
std::vector<PricedTraffic> every_kind(const Setup& setup, GroupKind group);

i64 calls(const std::vector<PricedTraffic>& rows);
Bytes bytes_of(const std::vector<PricedTraffic>& rows);
Seconds time_of(const std::vector<PricedTraffic>& rows);

/// Parameters of the whole model.
i64 parameters_of(const Setup& setup);

}  // namespace rankwright
