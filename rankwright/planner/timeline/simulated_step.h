// A simulated Program: what every rank does, how long it takes, and when. timeline_summary.h
// summarizes it; report/timeline/timeline_drawing.h has what its drawings share.
#pragma once

#include <string>
#include <vector>

#include "rankwright/pipeline/schedule.h"
#include "rankwright/plan/plan.h"
#include "rankwright/program/simulate.h"
#include "rankwright/program/timeline.h"

namespace rankwright::planner {

/// One simulated step.
struct SimulatedStep {
  pipeline::PipelineShape shape;
  program::Program program;
  program::Durations durations;
  program::Timeline timeline;
  std::string times{};  // where the durations come from, as text
  std::string what{};   // name of the schedule, or of the file that it was read from
  double scale = 1;     // factor on all durations, so that the step is as long as its estimate
};

/// Simulates a program with the given durations.
SimulatedStep simulate_step(const pipeline::PipelineShape& shape, program::Program program,
                            program::Durations durations, std::string times = "");

/// The text that describes unit times.
inline constexpr std::string_view kUnitTimes =
    "units, not estimates: forward, input gradient and weight gradient of every stage take 1 s "
    "each, "
    "transfers and collectives none";

/// Simulates the step of a config. It takes as long as cost::estimate_closely() says: the Program
/// lacks what formulas add to a step, such as jitter, so all its durations are scaled. Requires: no
/// constraint violations, and expansion_bytes of at most kMaxExpansion.
SimulatedStep simulate_step(const plan::TrainingConfig& config, bool unit_times = false);

/// Returns the events of one pp rank, in order.
std::vector<program::Event> events(const SimulatedStep& simulated, i64 pp_rank);

/// Returns whether the action overlaps with the cells of its rank.
bool is_beside(const program::Program& program, i64 pp_rank, const pipeline::Action& action);

/// Returns the number of cells of all ranks.
i64 cell_count(const program::Program& program);

/// Returns the number of slices in a trace. At most kMaxSlices can be written.
i64 slice_count(const program::Program& program);

}  // namespace rankwright::planner
