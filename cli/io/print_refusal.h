// Prints findings, and why a request has no answer, to standard error.
#pragma once

#include <string>
#include <string_view>

#include "cli/verb.h"
#include "rankwright/base/diagnostic.h"
#include "rankwright/planner/input/outcome.h"
#include "rankwright/planner/input/plan_input.h"

namespace rankwright::cli {

/// Writes the findings to `io.err`. `text` is the file that most of them point into, named `file`.
void print_findings(const Diagnostics& findings, std::string_view file, std::string_view text,
                    const Io& io);

/// Writes how many findings a plan has, unless `quiet`. Returns the exit code of a verb that
/// answers despite them.
int print_finding_counts(const planner::ValidPlan& plan, bool quiet, const Io& io);

/// Writes why a request of `verb` has no answer to `io.err`. Returns the exit code.
int print_refusal(std::string_view verb, const planner::Refusal& refusal, const Io& io);

/// Writes what is wrong with the command line of `verb`, and what to type instead. Returns the exit
/// code.
int print_usage_fault(std::string_view verb, std::string message, std::string hint, const Io& io);

}  // namespace rankwright::cli
