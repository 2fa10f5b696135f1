// `explain --timeline` as library calls: the step of a plan, or of a schedule that somebody wrote,
// simulated. Refuses what is too large to simulate or to write to a trace.
#pragma once

#include <string_view>

#include "rankwright/planner/input/plan_input.h"
#include "rankwright/planner/timeline/timeline_summary.h"

namespace rankwright::planner {

struct TimelineRequest {
  PlanSource plan{};
  bool unit_times = false;  // one unit of time for every forward, input and weight gradient
  bool traced = false;      // the caller writes a trace, which can hold fewer cells
};
struct TimelineAnswer {
  ValidPlan plan;
  SummarizedStep step;
};
Outcome<TimelineAnswer> explain_timeline(const TimelineRequest& request);

/// One line of cells per pp rank, simulated in units of time.
Outcome<SummarizedStep> explain_schedule(const SourceFile& schedule, bool traced);

/// Returns whether the file is a schedule and not a plan, by its name.
bool is_schedule(const SourceFile& file);

/// Returns the refusal of options that mean nothing for a schedule.
tl::unexpected<Refusal> refuse_plan_options(std::string_view options);

}  // namespace rankwright::planner
