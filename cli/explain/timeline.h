// `rankwright explain plan.yaml --timeline`: the step as a Gantt chart, and as the requested files.
// A schedule file (.csv) is drawn likewise, in unit times.
#pragma once

#include <string>

#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/verb.h"

namespace rankwright::cli {

/// The flags --timeline, --svg, --trace, --csv and --unit-times.
struct TimelineFlags {
  bool timeline = false;
  bool unit_times = false;
  std::string svg{};
  std::string trace{};
  std::string csv{};

  void add_to(Options& options);

  /// Returns whether a timeline is requested; any of its files implies it.
  bool wanted() const { return !svg.empty() || wanted_besides_svg(); }
  /// Returns whether one is requested even if --svg draws another view.
  bool wanted_besides_svg() const {
    return timeline || unit_times || !trace.empty() || !csv.empty();
  }
};

/// Draws the step of a plan. Returns the exit code.
int show_timeline(const PlanFlags& plan, const TimelineFlags& flags, bool markdown,
                  const Options& options, const Io& io);

/// Draws a schedule file, one line of cells per pp rank. Returns the exit code.
int show_schedule(const planner::SourceFile& file, const TimelineFlags& flags, bool markdown,
                  const Options& options, const Io& io);

}  // namespace rankwright::cli
