// Why a request was refused, as the command line prints it and Python raises it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/planner/input/outcome.h"

namespace rankwright::report {

/// Writes the findings, then "rankwright VERB: MESSAGE" and the hint, then the refusals of further
/// files.
std::string render_refusal_text(std::string_view verb, const planner::Refusal& refusal);

/// Returns the exit code: 1 unreadable or unknown, 2 refused, 64 usage. If several files were
/// refused, the smallest code.
int exit_code(const planner::Refusal& refusal);

/// Returns all findings, including those of further files.
Diagnostics collect_findings(const planner::Refusal& refusal);

/// Writes findings from several files, each with its own source line, without counting them.
std::string render_findings_in(const std::vector<planner::SourceFile>& sources,
                               const Diagnostics& findings);

}  // namespace rankwright::report
