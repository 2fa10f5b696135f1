// The simulate: a Program run with a time for every action, by its dependencies alone (max-plus). A
// rank does one cell after another; a cell waits for its input, which leaves when its producer ends
// and travels for the time of its boundary. Sends cost their rank nothing: they run beside. What
// contends for a link is simulated elsewhere. Formulas K1 to K4.
#pragma once

#include <array>
#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/program/program.h"

namespace rankwright::program {

/// What everything takes.
struct Durations {
  std::vector<std::array<Seconds, 4>> cells{};  // by stage: F, B, I, W
  std::vector<Seconds> activation{};            // by boundary, k to k + 1
  std::vector<Seconds> gradient{};              // by boundary, k + 1 to k
  std::vector<std::vector<Seconds>> steps{};    // by pp rank: its own steps
  double together = 1;  // two cells that are joined take this share of their sum

  Seconds of(const Action& cell) const { return cells[cell.stage][std::size_t(cell.kind)]; }
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

/// The program has been proved: a simulate of one that deadlocks is a broken promise.
Timeline simulate(const Program& program, const Durations& durations);

}  // namespace rankwright::program
