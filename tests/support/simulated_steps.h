// Simulated steps for the tests of report/: small ones for worked examples, random ones for
// properties.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "rankwright/pipeline/order.h"
#include "rankwright/planner/timeline/simulated_step.h"
#include "rankwright/program/transfers.h"

namespace rankwright::sample {

inline program::Program program_of(const pipeline::PipelineShape& shape) {
  return program::add_transfers(pipeline::cells(shape), shape.stages(), shape.microbatches);
}

/// Simulates a pipeline with equal stages: F, I and W take one second each, B two.
inline planner::SimulatedStep simulate_unit_step(const pipeline::PipelineShape& shape) {
  program::Program program = program_of(shape);
  program::Durations durations = make_equal_durations(program, Seconds{1}, Seconds{1}, Seconds{1});
  return planner::simulate_step(shape, std::move(program), std::move(durations));
}

/// Simulates 1F1B with 4 pp ranks and 8 microbatches.
inline planner::SimulatedStep four_by_eight() {
  return simulate_unit_step({.pp = 4, .microbatches = 8});
}

/// Adds steps to every role: an overlapped one in the middle, then a collective over all ranks and
/// the optimizer at the end.
inline void add_steps(program::Program& program) {
  for (pipeline::Sequence& role : program.roles) {
    const auto half = std::find_if(role.begin() + std::ptrdiff_t(role.size() / 2), role.end(),
                                   [](const pipeline::Action& a) { return a.joined == 0; });
    role.insert(half == role.end() ? half : half + 1, action(pipeline::ActionKind::step, 0, 0));
    role.push_back(action(pipeline::ActionKind::step, 0, 1));
    role.push_back(action(pipeline::ActionKind::step, 0, 2));
  }
  const program::Body steps = {
      {.kind = plan::TrafficKind::dp_all_reduce, .group = mesh::GroupKind::dp, .beside = true},
      {.kind = plan::TrafficKind::dp_all_gather, .group = mesh::GroupKind::world},
      {.part = program::Part::optimizer},
  };
  program.steps.assign(program.roles.size(), steps);
}

/// Makes a valid shape of any schedule.
inline pipeline::PipelineShape random_shape() {
  const std::vector<pipeline::ScheduleRow> rows(pipeline::schedules().begin(),
                                                pipeline::schedules().end());
  const pipeline::ScheduleRow schedule = *rc::gen::elementOf(rows);
  pipeline::PipelineShape shape{.schedule = schedule.schedule};
  shape.pp = *rc::gen::inRange<i64>(1, 7);
  shape.chunks = shape.pp == 1 ? 1
                               : std::min(schedule.max_chunks,
                                          schedule.min_chunks + *rc::gen::inRange<i64>(0, 3));
  shape.microbatches = *rc::gen::inRange<i64>(1, 25);
  RC_PRE(!find_shape_fault(shape));
  return shape;
}

/// Simulates a random pipeline with times in whole milliseconds that differ by stage, and with
/// steps in half of the cases.
inline planner::SimulatedStep simulate_random_step() {
  const pipeline::PipelineShape shape = random_shape();
  program::Program program = program_of(shape);
  if (*rc::gen::arbitrary<bool>()) add_steps(program);
  const auto time = [](i64 min) { return double(*rc::gen::inRange<i64>(min, 20)) * 1.0_ms; };
  program::Durations durations = make_equal_durations(program, 1.0_ms, 1.0_ms, 1.0_ms);
  for (std::array<Seconds, 4>& stage : durations.cells)
    for (Seconds& one : stage) one = time(1);
  for (Seconds& one : durations.activation) one = time(0);
  for (Seconds& one : durations.gradient) one = time(0);
  for (std::vector<Seconds>& of_rank : durations.steps)
    for (Seconds& one : of_rank) one = time(0);
  durations.together = *rc::gen::element(1.0, 0.75);
  return planner::simulate_step(shape, std::move(program), std::move(durations), "random");
}

}  // namespace rankwright::sample
