// The findings of `check`, below a summary of the plan or schedule if there are no errors.
#pragma once

#include <string>

#include "rankwright/planner/check.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// Summarizes the degrees as a product, the main figures of the plan, and what was proved about
/// its pipeline. Empty if there are errors.
std::string summarize_check(const planner::CheckAnswer& answer);

/// Writes the findings, after the summary if `summary`.
std::string render_check_text(const planner::CheckAnswer& answer, const Paint& paint,
                              bool summary = true);

}  // namespace rankwright::report
