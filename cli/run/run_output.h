// What `rankwright run` shows while it trains and when it ends: a line that is redrawn on a
// terminal, lines now and then elsewhere, JSON lines, the CSV, the summary. Rank 0 alone has one.
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

struct RunShow {
  bool json = false;
  bool quiet = false;
  std::string csv{};     // files; nothing: none
  std::string output{};  // instead of standard output
  std::string trace{};
  report::Paint paint{};  // of the summary
  report::RunProgress progress{};
};

class RunOutput {
 public:
  RunOutput(RunShow show, const Io& io) : show_(std::move(show)), io_(io) {}
  ~RunOutput() { clear(); }
  RunOutput(const RunOutput&) = delete;
  RunOutput& operator=(const RunOutput&) = delete;

  /// Opens the files, before anything is trained. The exit code where one cannot be written.
  std::optional<int> open();
  void step(const planner::TrainedStep& step);
  /// The summary, and the trace where one is wanted. The exit code: that of a file that could not
  /// be written, else 0.
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
  std::optional<Clock::time_point> first_{};  // when the first step had ended
  Clock::time_point drawn_{};
};

}  // namespace rankwright::cli
