// Progress of a search on standard error. On a terminal one line, redrawn at most ten times per
// second after the first second and cleared at the end; elsewhere a line every ten seconds.
#pragma once

#include <chrono>
#include <string>

#include "cli/io/interrupt.h"
#include "cli/verb.h"
#include "rankwright/planner/plan.h"

namespace rankwright::cli {

/// Describes the progress of a search that has taken `elapsed` so far: "searching: 34 % of 20.8 M
/// layouts, best 3.49 s, about 40 s left".
std::string describe_progress(const std::string& what, const search::SearchProgress& progress,
                              Seconds elapsed);

/// The progress line.
class ProgressLine {
 public:
  using Clock = std::chrono::steady_clock;
  using Now = Clock::time_point (*)();

  explicit ProgressLine(const Io& io, bool quiet, Now now = Clock::now)
      : io_(io),
        now_(now),
        on_(!quiet && (io.err_terminal || io.log_progress)),
        begin_(now()),
        shown_(begin_),
        phase_(begin_) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Sets the activity that the line starts with.
  void doing(std::string what);
  void show(const search::SearchProgress& progress);
  void clear();

 private:
  const Io& io_;
  Now now_;
  bool on_;
  bool dirty_ = false;
  std::string what_ = "searching";
  Clock::time_point begin_, shown_, phase_;
};

/// Returns callbacks that show the search on `line` and stop it after Ctrl-C.
planner::SearchControl make_search_control(ProgressLine& line, const Interrupt& interrupt);

}  // namespace rankwright::cli
