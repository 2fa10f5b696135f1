// Formats refusals of the planner for golden files.
#pragma once

#include <string>

#include "rankwright/planner/input/outcome.h"

namespace rankwright::planner {

/// Formats the request that was refused, the message, and the hint if there is one.
inline std::string format_refusal(const std::string& request, const Refusal& refusal) {
  return request + "\n  " + refusal.message + "\n" +
         (refusal.hint.empty() ? "" : "  help: " + refusal.hint + "\n");
}

/// Formats the refusal of an outcome. Outcomes that are not refused are a failure of the test.
template <class T>
std::string format_refusal(const std::string& request, const Outcome<T>& outcome) {
  return format_refusal(request, outcome ? Refusal{.message = "NOT REFUSED"} : outcome.error());
}

}  // namespace rankwright::planner
