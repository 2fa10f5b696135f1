// Implements `explain --timeline` as library calls: simulates the step of a plan or of a written
// schedule. Refuses steps that are too large to simulate or to write to a trace.
#pragma once

#include <string_view>

#include "rankwright/planner/input/plan_input.h"
#include "rankwright/planner/timeline/timeline_summary.h"

namespace rankwright::planner {

/// A plan to simulate.
struct TimelineRequest {
  PlanSource plan{};
  bool unit_times =
      false;            // every forward, input gradient and weight gradient takes one unit of time
  bool traced = false;  // the caller writes a trace, which has a lower limit on cells
};

/// A plan and its simulated step.
struct TimelineAnswer {
  ValidPlan plan;
  SummarizedStep step;
};

/// Simulates and summarizes the step of a config, and looks for a more even split of its layers, as
/// `explain --stages` does. Requires: as simulate_step().
SummarizedStep summarize_step(const plan::TrainingConfig& config, bool unit_times = false);

/// Reads a plan and simulates its step.
Outcome<TimelineAnswer> explain_timeline(const TimelineRequest& request);

/// Simulates a schedule file, one line of cells per pp rank, with unit times.
Outcome<SummarizedStep> explain_schedule(const SourceFile& schedule, bool traced);

/// Returns whether the file is a schedule rather than a plan, judged by its name.
bool is_schedule(const SourceFile& file);

/// Returns the refusal of options that do not apply to a schedule.
tl::unexpected<Refusal> refuse_plan_options(std::string_view options);

}  // namespace rankwright::planner
