// Describes a search in sentences: how many candidates were pruned, refused or evaluated, which
// rules they broke, the search space, and which hosts stay idle.
#pragma once

#include <string>
#include <string_view>

#include "rankwright/planner/plan/plan_answer.h"

namespace rankwright::report {

/// Returns the name of a constraint: "heads".
std::string_view name(plan::ConstraintViolation::Why why);
/// Returns what a violation means: "TP does not divide the attention heads".
std::string_view words(plan::ConstraintViolation::Why why);

/// Describes how many candidates were refused, pruned and evaluated, and whether the search was
/// complete.
std::string describe_search(const search::Answer& answer);
/// Lists the broken rules, most frequent first.
std::string describe_violations(const search::SearchStats& stats);
/// Describes the search space.
std::string describe_space(const planner::PlanAnswer& answer);

/// Returns "none", "asked", "time" or "memory".
std::string_view name(planner::StopReason reason);

/// Says which budget a stopped search used up and how to raise it; empty if it ended otherwise.
std::string describe_budget(planner::StopReason reason, const planner::SearchBudget& budget);

/// Says how much of the space a stopped search had covered; empty if the search was complete.
std::string describe_stop(const search::Answer& answer);

/// Says how many choices are within the model's error of the fastest; empty if there is only one.
std::string describe_tie(const search::Answer& answer);

/// Says how many hosts stay idle, and why.
std::string describe_hosts(const planner::HostUse& out, i64 host_devices);

}  // namespace rankwright::report
