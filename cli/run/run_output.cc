#include "cli/run/run_output.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/report/run/run_json.h"

namespace rankwright::cli {
namespace {

constexpr i64 kLines = 10;  // if not a terminal
constexpr std::chrono::milliseconds kBetween{100};

/// Returns whether to print this step: the first, the last, and about ten in between.
bool worth_a_line(i64 step, i64 wanted) {
  return step == 1 || step == wanted || step * kLines / wanted != (step - 1) * kLines / wanted;
}

}  // namespace

int RunOutput::failed(const std::string& what) const {
  io_.err << fmt::format("rankwright run: cannot write {}\n", what);
  return kUnreadable;
}

std::optional<int> RunOutput::open() {
  if (!show_.output.empty()) {
    output_.open(show_.output, std::ios::binary);
    if (!output_) return failed(show_.output);
  }
  if (!show_.trace.empty()) {
    trace_.open(show_.trace, std::ios::binary);
    if (!trace_) return failed(show_.trace);
  }
  if (show_.csv.empty()) return std::nullopt;
  csv_.open(show_.csv, std::ios::binary);
  csv_ << report::kRunCsvHead << std::flush;
  if (!csv_) return failed(show_.csv);
  return std::nullopt;
}

void RunOutput::step(const planner::TrainedStep& step) {
  // Flushed, so that a killed run leaves all rows so far.
  if (!show_.csv.empty()) csv_ << report::format_csv_line(step) << std::flush;
  if (show_.json) out() << report::make_step_json(step, show_.progress.tokens) << std::flush;
  if (!show_.quiet) progress(step);
}

void RunOutput::progress(const planner::TrainedStep& step) {
  const Clock::time_point now = Clock::now();
  if (!first_) first_ = now;
  report::RunProgress now_shown = show_.progress;
  if (step.step > 1) {
    const double each =
        std::chrono::duration<double>(now - *first_).count() / double(step.step - 1);
    now_shown.left = Seconds{each * double(now_shown.wanted - step.step)};
  }
  const std::string text = format_progress(step, now_shown);
  if (!io_.err_terminal) {
    if (worth_a_line(step.step, now_shown.wanted)) io_.err << text << "\n" << std::flush;
    return;
  }
  if (dirty_ && now - drawn_ < kBetween && step.step < now_shown.wanted) return;
  io_.err << "\r\033[K" << text << std::flush;
  drawn_ = now;
  dirty_ = true;
}

void RunOutput::clear() {
  if (dirty_) io_.err << "\n" << std::flush;  // the last line stays
  dirty_ = false;
}

int RunOutput::finish(const planner::RunSummary& summary, const std::string& trace) {
  clear();
  out() << (show_.json ? report::make_summary_json(summary) : render_run_text(summary, show_.paint))
        << std::flush;
  if (!out()) return failed(show_.output.empty() ? "to standard output" : show_.output);
  if (!show_.trace.empty()) {
    trace_ << trace << std::flush;
    if (!trace_) return failed(show_.trace);
  }
  if (!show_.csv.empty() && !csv_) return failed(show_.csv);
  return kOk;
}

}  // namespace rankwright::cli
