// A progress line of a search on a terminal: redrawn at most ten times per second after the first
// second, and cleared at the end. Prints nothing if standard error is not a terminal.
#pragma once

#include <chrono>
#include <string>

#include "cli/io/interrupt.h"
#include "cli/verb.h"
#include "rankwright/planner/plan.h"

namespace rankwright::cli {

/// The progress line.
class ProgressLine {
 public:
  explicit ProgressLine(const Io& io, bool quiet)
      : io_(io), on_(io.err_terminal && !quiet), begin_(Clock::now()), drawn_(begin_) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Sets the activity that the line starts with.
  void doing(std::string what) { what_ = std::move(what); }
  void show(const search::SearchProgress& progress);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  const Io& io_;
  bool on_;
  bool dirty_ = false;
  std::string what_ = "searching";
  Clock::time_point begin_, drawn_;
};

/// Returns callbacks that show the search on `line` and stop it after Ctrl-C.
planner::SearchControl make_search_control(ProgressLine& line, const Interrupt& interrupt);

}  // namespace rankwright::cli
