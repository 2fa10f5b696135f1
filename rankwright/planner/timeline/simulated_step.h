// A Program that was simulated: what every rank does, how long it takes, and when. What it comes to
// is timeline_summary.h; what drawings of it share is report/timeline/timeline_drawing.h.
#pragma once

#include <string>
#include <vector>

#include "rankwright/pipeline/schedule.h"
#include "rankwright/plan/plan.h"
#include "rankwright/program/simulate.h"
#include "rankwright/program/timeline.h"

namespace rankwright::planner {

struct SimulatedStep {
  pipeline::PipelineShape shape;
  program::Program program;
  program::Durations durations;
  program::Timeline timeline;
  std::string times{};  // where the durations come from, for people
  std::string what{};   // the schedule's name, or the file that it was read from
};

SimulatedStep simulate_step(const pipeline::PipelineShape& shape, program::Program program,
                            program::Durations durations, std::string times = "");

/// Describes unit times for people.
inline constexpr std::string_view kUnitTimes =
    "units, not prices: forward, input gradient and weight gradient of every stage take 1 s each, "
    "transfers and collectives none";

/// Simulates the step of a config. Requires: no violation, and expansion_bytes of at most
/// kMaxExpansion.
SimulatedStep simulate_step(const plan::TrainingConfig& config, bool unit_times = false);

std::vector<program::Event> events(const SimulatedStep& simulated, i64 pp_rank);

/// Returns whether the action runs beside the cells of its rank.
bool is_beside(const program::Program& program, i64 pp_rank, const pipeline::Action& action);

/// Returns the number of cells of all ranks.
i64 cell_count(const program::Program& program);

/// Returns the number of slices of a trace; at most kMaxSlices can be written.
i64 slice_count(const program::Program& program);

}  // namespace rankwright::planner
