// What a played step comes to: who was busy, how long, what was held, and what the step waited for.
// Values and a few sentences made of them; pictures are gantt.h and timeline_svg.h.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "rankwright/report/played.h"

namespace rankwright {

struct RankSummary {
  i64 pp_rank = 0;
  Seconds cells{};  // in its cells
  Seconds steps{};  // in its own steps that nothing runs beside
  Seconds idle{};
  i64 held = 0;  // the most stage activations at once
  Phases phases{};
  Seconds critical{};  // of the critical path, what lies on this rank
};

/// What the critical path does on one rank before it moves to another.
struct PathRun {
  i64 pp_rank = 0;
  Seconds begin{}, end{};
};

struct TimelineSummary {
  i64 cells = 0;
  Seconds end{};
  double bubble = 0;  // of the ranks' time together, what is idle
  std::vector<RankSummary> ranks{};
  std::vector<Band> bands{};
  // The critical path by what it consists of: with `travelled` it is as long as the step.
  std::array<Seconds, kInks> critical{};
  Seconds travelled{};
  std::vector<PathRun> path{};

  /// The rank on which most of the critical path lies; the first of equals.
  const RankSummary& longest() const;
  double share(Seconds part) const { return end.value > 0 ? part / end : 0; }
};

TimelineSummary summary(const Played& played);

/// "1f1b · 4 pp ranks · 8 microbatches · step 33 s · bubble 27.3 %".
std::string timeline_title(const Played& played, const TimelineSummary& summary);

/// A name and a sentence, in the order in which people ask: step, bubble, critical path, limits,
/// times.
struct Remark {
  std::string_view name;
  std::string text;
};
std::vector<Remark> remarks(const Played& played, const TimelineSummary& summary);

}  // namespace rankwright
