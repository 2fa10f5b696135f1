// `rankwright explain plan.yaml --timeline`: the step as a Gantt chart, and as the files that were
// asked for. A schedule file (.csv) is drawn the same way, in units of time.
#pragma once

#include <string>

#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/verb.h"

namespace rankwright::cli {

struct TimelineFlags {
  bool timeline = false;
  bool unit_times = false;
  std::string svg{};
  std::string trace{};
  std::string csv{};

  void add_to(Options& options);

  /// A file that is asked for asks for the timeline.
  bool wanted() const {
    return timeline || unit_times || !svg.empty() || !trace.empty() || !csv.empty();
  }
};

/// Draws the step of a plan. Returns the exit code.
int show_timeline(const PlanFlags& plan, const TimelineFlags& flags, bool markdown,
                  const Options& options, const Io& io);

/// Draws a schedule file, one line of cells per pp rank. Returns the exit code.
int show_schedule(const planner::SourceFile& file, const TimelineFlags& flags, bool markdown,
                  const Options& options, const Io& io);

}  // namespace rankwright::cli
