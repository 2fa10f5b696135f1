// Summary of a simulated step: who was busy, how long, what was held, and what the step waited
// for. Sentences made of it are report/timeline/timeline_sentences.h; pictures are gantt.h and
// timeline_svg.h.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "rankwright/planner/timeline/event_kind.h"
#include "rankwright/planner/timeline/simulated_step.h"

namespace rankwright::planner {

struct RankSummary {
  i64 pp_rank = 0;
  Seconds cells{};  // in its cells
  Seconds steps{};  // in its own steps that nothing runs beside
  Seconds idle{};
  i64 held = 0;  // the most stage activations at once
  program::Phases phases{};
  Seconds critical{};  // of the critical path, what lies on this rank
};

/// A part of the critical path on one rank, before it moves to another.
struct PathRun {
  i64 pp_rank = 0;
  Seconds begin{}, end{};
};

/// A part of the step that has a name.
struct Band {
  std::string_view name;
  Seconds begin{}, end{};

  Seconds length() const { return end - begin; }
};

struct TimelineSummary {
  i64 cells = 0;
  Seconds end{};
  double bubble = 0;  // of the ranks' time together, what is idle
  std::vector<RankSummary> ranks{};
  std::vector<Band> bands{};
  // The critical path by what it consists of: with `travelled` it is as long as the step.
  std::array<Seconds, kEventKinds> critical{};
  Seconds travelled{};
  std::vector<PathRun> path{};

  /// The rank on which most of the critical path lies; the first of equals.
  const RankSummary& longest() const;
  double share(Seconds part) const { return end.value > 0 ? part / end : 0; }
};

TimelineSummary summary(const SimulatedStep& simulated);

/// A simulated step, with what it comes to.
struct SummarizedStep {
  SimulatedStep simulated;
  TimelineSummary summary;
};

/// Warm-up lasts until every rank has begun a backward, drain begins when the first rank has done
/// its last forward; between them all ranks alternate. Where they would overlap there is no steady
/// state, and the first backward of all parts them. What follows the last cell is the end.
std::vector<Band> bands(const std::vector<program::Phases>& ranks, Seconds end);

}  // namespace rankwright::planner
