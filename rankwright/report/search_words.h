// What a search went through, in words: where its candidates went, which rules they break, what the
// space was, which hosts were left idle.
#pragma once

#include <string>
#include <string_view>

#include "rankwright/planner/plan_answer.h"

namespace rankwright {

std::string_view name(Misfit::Why why);   // "heads"
std::string_view words(Misfit::Why why);  // "tp does not divide the attention heads"

/// Where the candidates went, which rules they break, most first, and what the space was.
std::string searched_words(const Answer& answer);
std::string broken_words(const Tally& tally);
std::string space_words(const PlanAnswer& answer);

/// Returns "none", "asked", "time" or "memory".
std::string_view name(StopReason reason);

/// Returns which part of its budget a search used up and how to give it more; empty where it ended
/// otherwise.
std::string budget_words(StopReason reason, const SearchBudget& budget);

/// Returns what the plan of a stopped search is the best of; empty where the search was complete.
std::string stopped_words(const Answer& answer);

/// How many choices are within the model's error of the fastest; empty where there is one.
std::string tie_words(const Answer& answer);

/// How many hosts idle, and why.
std::string hosts_words(const HostUse& out, i64 host_devices);

}  // namespace rankwright
