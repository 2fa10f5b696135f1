// The findings of `check`, and the summary above them of a plan or a schedule without errors.
#pragma once

#include <string>

#include "rankwright/planner/check.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// Returns the degrees as a product, what the plan comes to, and what was proved of its pipeline.
/// Empty where there are errors.
std::string check_summary(const planner::CheckAnswer& answer);

/// Returns the findings, below the summary unless that is left out.
std::string check_text(const planner::CheckAnswer& answer, const Paint& paint, bool summary = true);

}  // namespace rankwright::report
