// The play: a Program run with a time for every action, by its dependencies alone (max-plus). A
// rank does one cell after another; a cell waits for its input, which leaves when its producer ends
// and travels for the time of its boundary. Sends cost their rank nothing: they run beside. What
// contends for a link is simulated elsewhere. Formulas K1 to K4.
#pragma once

#include <array>
#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/program/program.h"

namespace rankwright {

/// What everything takes.
struct Durations {
  std::vector<std::array<Seconds, 4>> cells{};  // by stage: F, B, I, W
  std::vector<Seconds> activation{};            // by boundary, k to k + 1
  std::vector<Seconds> gradient{};              // by boundary, k + 1 to k
  std::vector<std::vector<Seconds>> steps{};    // by pp rank: its own steps
  double together = 1;  // two cells that are joined take this share of their sum

  Seconds of(const Action& cell) const { return cells[cell.stage][cell.kind_bits]; }
};

/// Every stage alike, transfers free, B = I + W: the case of the closed forms.
Durations alike(const Program& program, Seconds forward, Seconds input, Seconds weight);

struct Timeline {
  Seconds end{};                               // of the last action of all
  std::vector<std::vector<Seconds>> starts{};  // by pp rank: of its cells and steps, in order
  std::vector<Seconds> busy{};                 // by pp rank: in cells

  /// Of the ranks' time together, what is not spent in cells.
  double idle_share() const;
};

/// The program has been proved: a play of one that deadlocks is a broken promise.
Timeline play(const Program& program, const Durations& durations);

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

}  // namespace rankwright
