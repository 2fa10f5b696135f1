// Slow ranks, slow links and a dead rank as JSON, schema rankwright.faults/1. Parts that were not
// requested are null.
#pragma once

#include <string>

#include "rankwright/planner/explain_faults.h"

namespace rankwright::report {

std::string make_faults_json(const plan::TrainingConfig& config, const planner::Faults& faults);

}  // namespace rankwright::report
