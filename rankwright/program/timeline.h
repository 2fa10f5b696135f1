// A simulated Program looked at: what each rank did when, where it warms up and drains, and the
// chain of actions that makes the step as long as it is. The simulate itself is simulate.h,
// drawings are report/.
#pragma once

#include <vector>

#include "rankwright/program/simulate.h"

namespace rankwright::program {

struct Event {
  Action action;
  Seconds start{};
  Seconds end{};
};

/// The cells and steps of one pp rank with their times, in order. Joined cells are drawn one behind
/// the other inside their common time.
std::vector<Event> events(const Program& program, const Durations& durations,
                          const Timeline& timeline, i64 pp_rank);

/// Where a rank's warm-up ends (its first backward begins) and its drain begins (its last forward
/// ends).
struct Phases {
  Seconds first{};  // its first cell begins
  Seconds warm{};
  Seconds drain{};
  Seconds last{};  // its last cell ends
};
Phases phases(const std::vector<Event>& events);

/// One link of the chain of actions that no slack interrupts: shorten any of them and the step ends
/// earlier, until another chain takes over.
struct CriticalLink {
  i64 pp_rank = 0;
  Event event;          // of joined cells their common time
  Seconds travelled{};  // what its input took to come from another rank, before `start`
};

/// From the first action to the last, in order.
std::vector<CriticalLink> critical_path(const Program& program, const Durations& durations,
                                        const Timeline& timeline);

}  // namespace rankwright::program
