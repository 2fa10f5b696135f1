// The verbs that Python calls, one function each. Each makes a request for the planner from the
// arguments, calls it, and returns the forms of its answer.
#pragma once

#include "python/answer.h"
#include "python/arguments.h"
#include "rankwright/planner/plan.h"

namespace rankwright::python {

using Verb = planner::Outcome<Answer>(const Arguments& arguments,
                                      const planner::SearchControl& control);

/// Text width in columns, as the command line uses when it does not print to a terminal.
inline constexpr std::size_t kTextWidth = 120;

Verb plan, check, explain, compare, report, export_plan, import_file, validate, catalog;

}  // namespace rankwright::python
