#include "cli/io/progress.h"

#include <gtest/gtest.h>

#include <sstream>

namespace rankwright::cli {
namespace progress_test {

using Clock = ProgressLine::Clock;
Clock::time_point time_of_test{};
Clock::time_point now() { return time_of_test; }

/// Shows a search that is `done` of 100 decided after each of `seconds`, and returns what is
/// written.
std::string watch(const std::vector<int>& seconds, bool terminal, bool log, bool quiet) {
  std::istringstream in;
  std::ostringstream out, err;
  const Io io{.in = in, .out = out, .err = err, .err_terminal = terminal, .log_progress = log};
  time_of_test = {};
  {
    ProgressLine line(io, quiet, now);
    for (const int second : seconds) {
      time_of_test = Clock::time_point{} + std::chrono::seconds{second};
      line.show({.done = 25, .candidates = 100, .best = Seconds{2}});
    }
  }
  EXPECT_EQ(out.str(), "");
  return err.str();
}

TEST(Progress, Text_StatesShareBestAndTheRest) {
  // A quarter took 10 s, so three quarters take about 30 s.
  EXPECT_EQ(describe_progress("searching", {25, 100, Seconds{2}}, Seconds{10}),
            "searching: 25 % of 100 layouts, best 2 s, about 30 s left");
  EXPECT_EQ(describe_progress("searching", {1, 100, {}}, Seconds{10}),
            "searching: 1 % of 100 layouts");
  EXPECT_EQ(describe_progress("16 GPUs", {}, Seconds{10}), "16 GPUs");
}

TEST(Progress, NoTerminal_WritesALineEveryTenSeconds) {
  EXPECT_EQ(watch({1, 9}, false, true, false), "");
  const std::string one = "searching: 25 % of 100 layouts, best 2 s, about 30 s left\n";
  EXPECT_EQ(watch({1, 10, 15}, false, true, false), one);
  EXPECT_EQ(watch({10, 15, 20}, false, true, false),
            one + "searching: 25 % of 100 layouts, best 2 s, about 60 s left\n");
}

TEST(Progress, Quiet_WritesNothing) {
  EXPECT_EQ(watch({5, 20, 40}, false, true, true), "");
  EXPECT_EQ(watch({5, 20, 40}, true, true, true), "");
  EXPECT_EQ(watch({5, 20, 40}, false, false, false), "");
}

TEST(Progress, Terminal_RedrawsOneLineAndClearsIt) {
  const std::string text = watch({5}, true, true, false);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_TRUE(text.ends_with("\r\033[K"));
}

}  // namespace progress_test
}  // namespace rankwright::cli
