// Sentences about a simulated step: its title, and answers to the usual questions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/planner/timeline/timeline_summary.h"

namespace rankwright::report {

/// Returns "1f1b · 4 pp ranks · 8 microbatches · step 33 s · idle 27.3 %".
std::string write_timeline_title(const planner::SimulatedStep& simulated,
                                 const planner::TimelineSummary& summary);

/// One sentence with its topic.
struct Remark {
  std::string_view name;
  std::string text;
};
/// Describes the step, the idle time, the critical path, what limits it, and where the times come
/// from.
std::vector<Remark> write_remarks(const planner::SimulatedStep& simulated,
                                  const planner::TimelineSummary& summary);

}  // namespace rankwright::report
