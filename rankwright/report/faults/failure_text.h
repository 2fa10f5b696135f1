// A dead rank said out loud: what halts and when it is noticed, what is lost, and the share of time
// that is useful work. Numbers come from cost/faults/failure.h; `from` says where each was had.
#pragma once

#include <string>

#include "rankwright/planner/explain_faults.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

std::string failure_text(const plan::TrainingConfig& config, i64 rank, const cost::Failure& failure,
                         const planner::FailureSources& from, const Paint& paint,
                         std::size_t width);

}  // namespace rankwright::report
