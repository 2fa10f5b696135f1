// Slow ranks, slow links and a dead rank as one JSON document, schema rankwright.faults/1: each
// part that was asked for, the others null.
#pragma once

#include <string>

#include "rankwright/planner/explain_faults.h"

namespace rankwright::report {

std::string faults_json(const plan::TrainingConfig& config, const planner::Faults& faults);

}  // namespace rankwright::report
