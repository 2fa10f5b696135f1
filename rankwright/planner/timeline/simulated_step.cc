#include "rankwright/planner/timeline/simulated_step.h"

#include <algorithm>

#include "rankwright/cost/durations.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/program/expand.h"

namespace rankwright::planner {
namespace {

void scale_durations(program::Durations& times, double scale) {
  for (std::array<Seconds, 4>& stage : times.cells)
    for (Seconds& cell : stage) cell = scale * cell;
  for (std::vector<Seconds>* transfers : {&times.activation, &times.gradient})
    for (Seconds& one : *transfers) one = scale * one;
  for (std::vector<Seconds>& of_rank : times.steps)
    for (Seconds& one : of_rank) one = scale * one;
}

}  // namespace

SimulatedStep simulate_step(const pipeline::PipelineShape& shape, program::Program program,
                            program::Durations durations, std::string times) {
  program::Timeline timeline = simulate(program, durations);
  return {shape,
          std::move(program),
          std::move(durations),
          std::move(timeline),
          std::move(times),
          std::string(name(shape.schedule))};
}

SimulatedStep simulate_step(const plan::TrainingConfig& config, bool unit_times) {
  constexpr std::string_view kCalibrated =
      "calibrated on published runs; actions include exposed collectives and sends; --unit-times "
      "draws the schedule only";
  program::Program program = program::expand(config);
  if (unit_times) {
    program::Durations units = make_equal_durations(program, 1.0_s, 1.0_s, 1.0_s);
    return simulate_step(make_pipeline_shape(config), std::move(program), std::move(units),
                         std::string(kUnitTimes));
  }
  const cluster::Calibration& constants = select_calibration(config);
  program::Durations times = cost::compute_durations(config, program, constants);
  const Seconds end = simulate(program, times).end;
  const double scale = end > Seconds{} ? cost::estimate_closely(config, constants).time() / end : 1;
  scale_durations(times, scale);
  SimulatedStep step = simulate_step(make_pipeline_shape(config), std::move(program),
                                     std::move(times), std::string(kCalibrated));
  step.scale = scale;
  return step;
}

std::vector<program::Event> events(const SimulatedStep& p, i64 pp_rank) {
  return events(p.program, p.durations, p.timeline, pp_rank);
}

bool is_beside(const program::Program& program, i64 pp_rank, const pipeline::Action& a) {
  return a.kind == pipeline::ActionKind::step &&
         program.steps[std::size_t(pp_rank)][a.microbatch].beside;
}

i64 cell_count(const program::Program& program) {
  i64 cells = 0;
  for (const pipeline::Sequence& role : program.roles)
    cells += std::count_if(role.begin(), role.end(),
                           [](const pipeline::Action& a) { return is_cell(a.kind); });
  return cells;
}

i64 slice_count(const program::Program& program) {
  i64 slices = 0;
  for (const pipeline::Sequence& role : program.roles)
    slices += std::count_if(role.begin(), role.end(),
                            [](const pipeline::Action& a) { return !is_transfer(a.kind); });
  return slices;
}

}  // namespace rankwright::planner
