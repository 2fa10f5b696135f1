#include "cli/io/progress.h"

#include <fmt/format.h>

#include <ostream>

#include "rankwright/base/format.h"

namespace rankwright::cli {

void ProgressLine::show(const search::SearchProgress& progress) {
  constexpr std::chrono::milliseconds kFirst{1000}, kBetween{100};
  const Clock::time_point now = Clock::now();
  if (!on_ || now - begin_ < kFirst || (dirty_ && now - drawn_ < kBetween)) return;
  std::string text = what_;
  if (progress.candidates > 0)
    text += fmt::format(": {} of {} layouts decided",
                        percent(double(progress.done) / double(progress.candidates)),
                        format_short_count(double(progress.candidates)));
  if (progress.best) text += fmt::format(", best {}", rankwright::show(*progress.best));
  io_.err << "\r\033[K" << text << std::flush;
  drawn_ = now;
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
