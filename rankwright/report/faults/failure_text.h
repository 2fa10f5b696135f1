// Describes the failure of a rank: which ranks halt and when it is noticed, what is lost, and the
// share of time that is useful work. cost/faults/failure.h computes the numbers; `from` names the
// source of each.
#pragma once

#include <string>

#include "rankwright/planner/explain_faults.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

std::string render_failure_text(const plan::TrainingConfig& config, i64 rank,
                                const cost::Failure& failure, const planner::FailureSources& from,
                                const Paint& paint, std::size_t width);

}  // namespace rankwright::report
