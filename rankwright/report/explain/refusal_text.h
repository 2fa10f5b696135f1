// Why a request has no answer, as the command line prints it and Python raises it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/planner/input/outcome.h"

namespace rankwright::report {

/// Returns the findings, then "rankwright VERB: MESSAGE" and the hint; then those of other files.
std::string refusal_text(std::string_view verb, const planner::Refusal& refusal);

/// Returns the exit code: 1 unreadable or unknown, 2 refused, 64 usage. Of several files the first
/// of these counts.
int exit_code(const planner::Refusal& refusal);

/// Returns all findings, of other files too.
Diagnostics findings_of(const planner::Refusal& refusal);

/// Returns findings in several files, each with the line of its own, without their count.
std::string findings_in(const std::vector<planner::SourceFile>& sources,
                        const Diagnostics& findings);

}  // namespace rankwright::report
