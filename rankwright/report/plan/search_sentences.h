// What a search went through, in words: where its candidates went, which rules they break, what the
// space was, which hosts were left idle.
#pragma once

#include <string>
#include <string_view>

#include "rankwright/planner/plan/plan_answer.h"

namespace rankwright::report {

std::string_view name(plan::ConstraintViolation::Why why);  // "heads"
std::string_view words(
    plan::ConstraintViolation::Why why);  // "tp does not divide the attention heads"

/// Where the candidates went, which rules they break, most first, and what the space was.
std::string describe_search(const search::Answer& answer);
std::string describe_violations(const search::SearchStats& stats);
std::string describe_space(const planner::PlanAnswer& answer);

/// Returns "none", "asked", "time" or "memory".
std::string_view name(planner::StopReason reason);

/// Returns which part of its budget a search used up and how to give it more; empty where it ended
/// otherwise.
std::string describe_budget(planner::StopReason reason, const planner::SearchBudget& budget);

/// Returns what the plan of a stopped search is the best of; empty where the search was complete.
std::string describe_stop(const search::Answer& answer);

/// How many choices are within the model's error of the fastest; empty where there is one.
std::string describe_tie(const search::Answer& answer);

/// How many hosts idle, and why.
std::string describe_hosts(const planner::HostUse& out, i64 host_devices);

}  // namespace rankwright::report
