// One line on a terminal that says how far a search is, redrawn at most ten times a second after
// the first second, and cleared at the end. Nothing elsewhere.
#pragma once

#include <chrono>
#include <string>

#include "cli/io/interrupt.h"
#include "cli/verb.h"
#include "rankwright/planner/plan.h"

namespace rankwright::cli {

class ProgressLine {
 public:
  explicit ProgressLine(const Io& io, bool quiet)
      : io_(io), on_(io.err_terminal && !quiet), begin_(Clock::now()), drawn_(begin_) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// What is being done, before what it has come to.
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

/// Returns callbacks that show the search on `line` and end it when Ctrl-C was pressed.
planner::SearchControl search_control(ProgressLine& line, const Interrupt& interrupt);

}  // namespace rankwright::cli
