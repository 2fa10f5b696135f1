#include "rankwright/planner/timeline/simulated_step.h"

#include <algorithm>

#include "rankwright/cost/durations.h"
#include "rankwright/program/expand.h"

namespace rankwright {

SimulatedStep simulate_step(const PipelineShape& shape, Program program, Durations durations,
                            std::string times) {
  Timeline timeline = simulate(program, durations);
  return {shape,
          std::move(program),
          std::move(durations),
          std::move(timeline),
          std::move(times),
          std::string(name(shape.schedule))};
}

SimulatedStep simulate_step(const TrainingConfig& config, bool unit_times) {
  constexpr std::string_view kCalibrated =
      "calibrated on published runs, as explain's; cells have the collectives and sends that are "
      "not hidden; --unit-times draws the schedule alone";
  Program program = expand(config);
  Durations times = unit_times ? alike(program, 1.0_s, 1.0_s, 1.0_s)
                               : durations(config, program, calibration(config));
  return simulate_step(pipeline_shape(config), std::move(program), std::move(times),
                       std::string(unit_times ? kUnitTimes : kCalibrated));
}

std::vector<Event> events(const SimulatedStep& p, i64 pp_rank) {
  return events(p.program, p.durations, p.timeline, pp_rank);
}

bool is_beside(const Program& program, i64 pp_rank, const Action& a) {
  return a.kind == ActionKind::step && program.steps[std::size_t(pp_rank)][a.microbatch].beside;
}

i64 cell_count(const Program& program) {
  i64 cells = 0;
  for (const Sequence& role : program.roles)
    cells +=
        std::count_if(role.begin(), role.end(), [](const Action& a) { return is_cell(a.kind); });
  return cells;
}

i64 slice_count(const Program& program) {
  i64 slices = 0;
  for (const Sequence& role : program.roles)
    slices += std::count_if(role.begin(), role.end(),
                            [](const Action& a) { return !is_transfer(a.kind); });
  return slices;
}

}  // namespace rankwright
