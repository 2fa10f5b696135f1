#include "cli/io/progress.h"

#include <fmt/format.h>

#include <ostream>

#include "rankwright/base/format.h"

namespace rankwright::cli {

std::string describe_progress(const std::string& what, const search::SearchProgress& progress,
                              Seconds elapsed) {
  constexpr double kMinShare = 0.05;  // below, the rest is a guess
  std::string text = what;
  if (progress.candidates <= 0) return text;
  const double share = double(progress.done) / double(progress.candidates);
  text += fmt::format(": {} of {} layouts", percent(share),
                      format_short_count(double(progress.candidates)));
  if (progress.best) text += fmt::format(", best {}", show(*progress.best));
  if (share >= kMinShare && share < 1)
    text += fmt::format(", about {} left", show((1 - share) / share * elapsed));
  return text;
}

void ProgressLine::doing(std::string what) {
  what_ = std::move(what);
  phase_ = now_();
}

void ProgressLine::show(const search::SearchProgress& progress) {
  constexpr std::chrono::milliseconds kFirst{1000}, kBetween{100};
  constexpr std::chrono::seconds kBetweenLines{10};
  if (!on_) return;
  const Clock::time_point now = now_();
  const std::chrono::duration<double> elapsed = now - phase_;
  if (!io_.err_terminal) {
    if (now - shown_ < kBetweenLines) return;
    io_.err << describe_progress(what_, progress, Seconds{elapsed.count()}) << std::endl;
    shown_ = now;
    return;
  }
  if (now - begin_ < kFirst || (dirty_ && now - shown_ < kBetween)) return;
  io_.err << "\r\033[K" << describe_progress(what_, progress, Seconds{elapsed.count()})
          << std::flush;
  shown_ = now;
  dirty_ = true;
}

void ProgressLine::clear() {
  if (dirty_) io_.err << "\r\033[K" << std::flush;
  dirty_ = false;
}

planner::SearchControl make_search_control(ProgressLine& line, const Interrupt& interrupt) {
  return {.phase = [&line](const std::string& what) { line.doing(what); },
          .progress = [&line](const search::SearchProgress& progress) { line.show(progress); },
          .should_stop = [&interrupt] { return interrupt.asked(); }};
}

}  // namespace rankwright::cli
