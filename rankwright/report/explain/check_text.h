// The findings of `check`, below a summary of the plan or schedule if there are no errors.
#pragma once

#include <span>
#include <string>

#include "rankwright/planner/check.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// Summarizes the degrees as a product, the main figures of the plan, and what was proved about
/// its pipeline. Empty if there are errors.
std::string summarize_check(const planner::CheckAnswer& answer);

/// Writes the findings of several files, one after another, and how many there are in all.
std::string render_checks_text(std::span<const planner::CheckAnswer> answers, const Paint& paint,
                               std::size_t width);
/// Writes schema rankwright.checks/1: the findings of each file.
std::string make_checks_json(std::span<const planner::CheckAnswer> answers);
/// Returns the findings of all files.
Diagnostics join_findings(std::span<const planner::CheckAnswer> answers);

/// Writes the findings, after the summary if `summary`.
std::string render_check_text(const planner::CheckAnswer& answer, const Paint& paint,
                              std::size_t width, bool summary = true);

}  // namespace rankwright::report
