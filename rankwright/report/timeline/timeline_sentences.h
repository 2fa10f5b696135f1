// Sentences about a simulated step: its title, and what people ask about it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/planner/timeline/timeline_summary.h"

namespace rankwright::report {

/// "1f1b · 4 pp ranks · 8 microbatches · step 33 s · bubble 27.3 %".
std::string timeline_title(const planner::SimulatedStep& simulated,
                           const planner::TimelineSummary& summary);

/// A name and a sentence, in the order in which people ask: step, bubble, critical path, limits,
/// times.
struct Remark {
  std::string_view name;
  std::string text;
};
std::vector<Remark> remarks(const planner::SimulatedStep& simulated,
                            const planner::TimelineSummary& summary);

}  // namespace rankwright::report
