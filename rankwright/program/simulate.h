// Simulates a Program with a duration for every action, from its dependencies alone (max-plus,
// formulas K1 to K4). A rank runs one cell after another; a cell waits for its input, which leaves
// when its producer ends and takes the time of its boundary. Sends overlap and cost their rank
// nothing. Link contention is not modeled here.
#pragma once

#include <array>
#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/program/program.h"

namespace rankwright::program {

/// The duration of every action of a Program.
struct Durations {
  std::vector<std::array<Seconds, 4>> cells{};  // by stage: F, B, I, W
  std::vector<Seconds> activation{};            // by boundary, k to k + 1
  std::vector<Seconds> gradient{};              // by boundary, k + 1 to k
  std::vector<std::vector<Seconds>> steps{};    // by pp rank: its own steps
  double together = 1;  // joined cells take this fraction of the sum of their durations

  Seconds of(const pipeline::Action& cell) const {
    return cells[cell.stage][std::size_t(cell.kind)];
  }
};

/// Returns equal durations for all stages with free transfers and B = I + W, the case that the
/// closed forms describe.
Durations make_equal_durations(const Program& program, Seconds forward, Seconds input,
                               Seconds weight);

/// The start times of one simulated step.
struct Timeline {
  Seconds end{};                               // end of the last action
  std::vector<std::vector<Seconds>> starts{};  // by pp rank: starts of its cells and steps
  std::vector<Seconds> busy{};                 // by pp rank: time in cells

  /// Returns the fraction of all ranks' time that is not spent in cells.
  double idle_share() const;
};

/// Simulates a program. Requires: prove(program).holds(); a program that deadlocks aborts.
Timeline simulate(const Program& program, const Durations& durations);

}  // namespace rankwright::program
