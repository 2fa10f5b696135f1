// Summarizes a simulated step: busy and idle time per rank, activations held, and the critical
// path. report/timeline/timeline_sentences.h describes it in sentences; gantt.h and timeline_svg.h
// draw it.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "rankwright/planner/timeline/event_kind.h"
#include "rankwright/planner/timeline/simulated_step.h"

namespace rankwright::planner {

/// The summary of one pp rank.
struct RankSummary {
  i64 pp_rank = 0;
  Seconds cells{};  // time in cells
  Seconds steps{};  // time in actions outside cells that overlap with nothing
  Seconds idle{};
  i64 held = 0;  // maximum stage activations held at once
  program::Phases phases{};
  Seconds critical{};  // part of the critical path on this rank
};

/// A part of the critical path on one rank, before it moves to another.
struct CriticalPathRun {
  i64 pp_rank = 0;
  Seconds begin{}, end{};
};

/// A named phase of the step.
struct Band {
  std::string_view name;
  Seconds begin{}, end{};

  Seconds length() const { return end - begin; }
};

/// The summary of a step.
struct TimelineSummary {
  i64 cells = 0;
  Seconds end{};
  double idle = 0;  // idle share of the ranks' total time
  std::vector<RankSummary> ranks{};
  std::vector<Band> bands{};
  // The critical path by kind of work. With `travelled` it adds up to the step.
  std::array<Seconds, kEventKinds> critical{};
  Seconds travelled{};
  std::vector<CriticalPathRun> path{};
  /// Whether a more even split has fewer layers on longest(); empty if the layers are not known.
  std::optional<bool> can_move_layers{};

  /// Returns the rank with most of the critical path; the first of equals.
  const RankSummary& longest() const;
  double share(Seconds part) const { return end.value > 0 ? part / end : 0; }
};

/// Summarizes a simulated step.
TimelineSummary summary(const SimulatedStep& simulated);

/// A simulated step and its summary.
struct SummarizedStep {
  SimulatedStep simulated;
  TimelineSummary summary;
};

/// Returns the phases of the step. Warm-up lasts until every rank has begun a backward pass; drain
/// begins when the first rank has finished its last forward pass; the steady state is between them.
/// If they would overlap, there is no steady state, and the first backward pass of all ranks
/// separates them. The end is everything after the last cell.
std::vector<Band> bands(const std::vector<program::Phases>& ranks, Seconds end);

}  // namespace rankwright::planner
