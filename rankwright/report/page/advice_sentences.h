// The "Do this" card of a report in words: the change to make (planner/advice.h), what it
// gains, whether the framework runs the result, and the command to type.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/planner/report.h"

namespace rankwright::report {

/// One figure of the plan and of the advised one, as text.
struct Gain {
  std::string_view name;   // "step"
  std::string now, after;  // "78.7 s", "68.3 s"
  std::string difference;  // "-13.2 %"; empty if it cannot be compared
};

/// The card. Its kind and its changed keys are those of the report's advice.
struct AdviceCard {
  std::string sentence{};
  std::vector<Gain> gains{};
  std::string runs{};     // which framework runs the advised plan
  std::string command{};  // to copy; empty if there is nothing to type
  std::string file{};     // the advised plan as a file; empty if there is none
};

/// Writes the card of a report.
AdviceCard make_advice_card(const planner::PlanReport& report);

}  // namespace rankwright::report
