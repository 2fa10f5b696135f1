// The output of `rankwright run`: a progress line that is redrawn on a terminal (a few lines
// otherwise), JSON lines, the CSV and the summary. Only rank 0 has one.
#pragma once

#include <chrono>
#include <fstream>
#include <optional>
#include <ostream>
#include <string>

#include "cli/options.h"
#include "cli/verb.h"
#include "rankwright/report/run/run_text.h"

namespace rankwright::cli {

/// The outputs of a run and their destinations.
struct RunShow {
  bool json = false;
  bool quiet = false;
  std::string csv{};     // files; empty: not written
  std::string output{};  // replaces standard output
  std::string trace{};
  report::Paint paint{};  // of the summary
  report::RunProgress progress{};
};

/// Writes the output of a run.
class RunOutput {
 public:
  RunOutput(RunShow show, const Io& io) : show_(std::move(show)), io_(io) {}
  ~RunOutput() { clear(); }
  RunOutput(const RunOutput&) = delete;
  RunOutput& operator=(const RunOutput&) = delete;

  /// Opens the files before training starts. Returns the exit code if one cannot be written.
  std::optional<int> open();
  void step(const planner::TrainedStep& step);
  /// Writes the summary, and the trace if requested. Returns 0, or the exit code if a file could
  /// not be written.
  int finish(const planner::RunSummary& summary, const std::string& trace);

 private:
  using Clock = std::chrono::steady_clock;
  std::ostream& out() { return show_.output.empty() ? io_.out : output_; }
  void progress(const planner::TrainedStep& step);
  void clear();
  int failed(const std::string& what) const;

  RunShow show_;
  const Io& io_;
  std::ofstream csv_{}, output_{}, trace_{};
  bool dirty_ = false;
  std::optional<Clock::time_point> first_{};  // when the first step ended
  Clock::time_point drawn_{};
};

}  // namespace rankwright::cli
