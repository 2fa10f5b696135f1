// `rankwright explain plan.yaml --timeline`: the step as a Gantt chart, and as the files that were
// asked for.
#pragma once

#include <string>

#include "cli/options.h"
#include "cli/verb.h"
#include "rankwright/plan/plan.h"

namespace rankwright::cli {

struct TimelineFlags {
  bool timeline = false;
  std::string svg{};
  std::string trace{};

  void add_to(Options& options);

  /// A file that is asked for asks for the timeline.
  bool wanted() const { return timeline || !svg.empty() || !trace.empty(); }
};

/// The setup has no misfits. Returns the exit code.
int show_timeline(const Setup& setup, const TimelineFlags& flags, bool markdown,
                  const Options& options, const Io& io);

}  // namespace rankwright::cli
