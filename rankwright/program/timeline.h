// Analyzes a simulated Program: the events of each rank, its warm-up and drain phases, and the
// critical path of the step. The simulation is in simulate.h; report/ draws the result.
#pragma once

#include <vector>

#include "rankwright/program/simulate.h"

namespace rankwright::program {

/// A cell or step with its time span.
struct Event {
  pipeline::Action action;
  Seconds start{};
  Seconds end{};
};

/// Returns the cells and steps of one pp rank with their times, in order. Joined cells are placed
/// one after the other within their common time span.
std::vector<Event> events(const Program& program, const Durations& durations,
                          const Timeline& timeline, i64 pp_rank);

/// The times at which the phases of one rank begin and end.
struct Phases {
  Seconds first{};  // its first cell starts
  Seconds warm{};   // the warm-up ends: its first backward starts
  Seconds drain{};  // the drain begins: its last forward ends
  Seconds last{};   // its last cell ends
};

/// Computes the phases from the events of one rank.
Phases phases(const std::vector<Event>& events);

/// One action of the critical path, a chain without slack: shortening any of them makes the step
/// shorter until another chain becomes critical.
struct CriticalLink {
  i64 pp_rank = 0;
  Event event;          // for joined cells, their common time span
  Seconds travelled{};  // transfer time of its input from another rank, before `start`
};

/// Returns the critical path from the first action to the last.
std::vector<CriticalLink> find_critical_path(const Program& program, const Durations& durations,
                                             const Timeline& timeline);

}  // namespace rankwright::program
