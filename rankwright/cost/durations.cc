#include "rankwright/cost/durations.h"

#include "rankwright/cost/links.h"
#include "rankwright/cost/step.h"

namespace rankwright::cost {

program::Durations compute_durations(const plan::TrainingConfig& config,
                                     const program::Program& program,
                                     const cluster::Calibration& calibration) {
  const StepTime whole = estimate_step_time(config, calibration);
  const CellTimes taken = estimate_cell_times(config, calibration);
  Links links(config, calibration);
  program::Durations times;
  for (const pipeline::StageTimes& stage : taken.stages)
    times.cells.push_back({stage.forward, stage.input + stage.weight, stage.input, stage.weight});
  const std::size_t boundaries = taken.stages.size() - 1;
  times.activation.assign(boundaries, taken.hop);
  times.gradient.assign(boundaries, taken.hop);
  for (const program::Body& of_rank : program.steps) {
    times.steps.emplace_back();
    for (const program::Step& step : of_rank) {
      if (!step.computes()) links.add(config, step.group);
      const bool optimizer = step.part == program::Part::optimizer;
      times.steps.back().push_back(optimizer ? whole.beside_pipeline()
                                   : step.computes()
                                       ? Seconds{}
                                       : links.time(step.kind, step.op, step.bytes, step.group));
    }
  }
  return times;
}

}  // namespace rankwright::cost
