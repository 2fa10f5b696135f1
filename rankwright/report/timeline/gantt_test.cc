#include "rankwright/report/timeline/gantt.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <regex>
#include <sstream>

#include "rankwright/report/render/table.h"
#include "rankwright/report/timeline/timeline_drawing.h"
#include "tests/support/golden.h"
#include "tests/support/simulated_steps.h"

namespace rankwright::report {
namespace gantt_test {

using ::testing::HasSubstr;
using ::testing::Not;

/// Removes the color codes.
std::string strip_colors(const std::string& text) {
  return std::regex_replace(text, std::regex("\033\\[[0-9;]*m"), "");
}

std::string draw(const planner::SimulatedStep& p, std::size_t width, bool color = false) {
  return draw_gantt(p, summary(p), Paint{color}, width);
}

/// Returns the rows between their bars, by PP rank.
std::map<i64, std::string> find_rows(const std::string& text) {
  std::map<i64, std::string> found;
  std::istringstream lines(strip_colors(text));
  const std::regex row("PP ([0-9]+) *(\\||│)(.*)(\\||│).*");
  for (std::string line; std::getline(lines, line);)
    if (std::smatch match; std::regex_match(line, match, row))
      found[std::stoll(match[1])] = match[3];
  return found;
}

TEST(Gantt, MatchesGoldenFile) {
  golden::expect("timeline/1f1b-4x8.txt", draw(sample::four_by_eight(), 120));
}

TEST(Gantt, ShowsEveryCellWithItsMicrobatch) {
  const std::map<i64, std::string> four = find_rows(draw(sample::four_by_eight(), 80));
  // Two characters per second: F is two wide, B four.
  EXPECT_EQ(four.at(0), "0-1-2-3-            0===4-1===5-2===6-3===7-4===  5===  6===  7===");
  EXPECT_EQ(four.at(3), "      0-0===1-1===2-2===3-3===4-4===5-5===6-6===7-7===            ");
}

TEST(Gantt, ShowsTheSameCellsInColor) {
  const planner::SimulatedStep p = sample::four_by_eight();
  const std::string text = draw(p, 80, true);
  EXPECT_EQ(find_rows(text).at(0),
            "0 1 2 3             0   4 1   5 2   6 3   7 4     5     6     7   ");
  EXPECT_THAT(text,
              HasSubstr(fmt::format("\033[48;5;{}m",
                                    find_terminal_color(row(planner::EventKind::forward).color))));
  EXPECT_THAT(draw(p, 80), Not(HasSubstr("\033")));
}

TEST(Gantt, ShowsColumnsIfCellsAreTooNarrow) {
  const planner::SimulatedStep p = sample::simulate_unit_step(
      {.schedule = pipeline::Schedule::interleaved, .pp = 16, .chunks = 4, .microbatches = 64});
  const std::string text = draw(p, 120);
  const std::map<i64, std::string> all = find_rows(text);
  ASSERT_EQ(all.size(), 16u);
  EXPECT_TRUE(std::regex_match(all.at(0), std::regex("-+ [=x ]*x{40,}=+"))) << all.at(0);
  EXPECT_TRUE(std::regex_match(all.at(15), std::regex(" +-+x+=+ +"))) << all.at(15);
  golden::expect("timeline/interleaved-16x4x64.txt", text);  // the legend explains "x"
}

TEST(Gantt, DrawsASampleOfManyRanksAndSaysSo) {
  const std::string text = draw(sample::simulate_unit_step({.pp = 128, .microbatches = 128}), 120);
  const std::map<i64, std::string> all = find_rows(text);
  EXPECT_EQ(all.size(), 16u);
  EXPECT_TRUE(all.contains(0));
  EXPECT_TRUE(all.contains(127));
  golden::expect("timeline/1f1b-128x128.txt", text);
}

TEST(Gantt, ZeroTime_IsEmpty) {
  planner::SimulatedStep p = sample::simulate_unit_step({.pp = 2, .microbatches = 2});
  p.durations = make_equal_durations(p.program, {}, {}, {});
  const std::map<i64, std::string> all =
      find_rows(draw(planner::simulate_step(p.shape, p.program, p.durations), 80));
  EXPECT_EQ(all.at(0), std::string(all.at(0).size(), ' '));
}

TEST(Gantt, ShowsOverlappedStepsOnlyWhereNoCellRuns) {
  program::Program program = sample::program_of({.pp = 1, .microbatches = 2});
  sample::add_steps(program);
  program::Durations times = make_equal_durations(program, Seconds{1}, Seconds{1}, Seconds{1});
  times.steps[0] = {Seconds{1}, Seconds{2}, Seconds{3}};
  const std::string text =
      draw(planner::simulate_step({.pp = 1, .microbatches = 2}, program, times), 60);
  // F0 B0 F1 B1 take 6 s and hide the overlapped step; then 2 s and 3 s: 11 s in 40 columns, 3
  // each.
  EXPECT_EQ(find_rows(text).at(0), "0--0=====1--1=====******@@@@@@@@@");
  golden::expect("timeline/collective-and-optimizer.txt", text);
}

RC_GTEST_PROP(Gantt, LinesFitTheTerminalAndRowsHaveEqualLength, ()) {
  const planner::SimulatedStep p = sample::simulate_random_step();
  const std::size_t width = *rc::gen::inRange<std::size_t>(60, 220);
  for (const bool color : {false, true}) {
    const std::string text = strip_colors(draw(p, width, color));
    const std::map<i64, std::string> all = find_rows(text);
    RC_ASSERT(i64(all.size()) == p.program.pp());
    for (const auto& [rank, row] : all) RC_ASSERT(display_width(row) == display_width(all.at(0)));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) RC_ASSERT(display_width(line) <= width);
  }
}

/// Returns the cells that a row without color shows: number and character.
std::string find_cells(const std::string& row) {
  const std::regex cell("([0-9]+)[a-z]?([-=<+])");
  std::string found;
  for (std::sregex_iterator at(row.begin(), row.end(), cell), end; at != end; ++at)
    found += (*at)[1].str() + (*at)[2].str() + " ";
  return found;
}

RC_GTEST_PROP(Gantt, ShowsEveryCellThatIsWideEnough, ()) {
  const planner::SimulatedStep p = sample::simulate_unit_step(sample::random_shape());
  // Four characters per second leave room for number, chunk and kind.
  const std::map<i64, std::string> all =
      find_rows(draw(p, std::size_t(4 * p.timeline.end.value) + 60));
  for (i64 r = 0; r < p.program.pp(); ++r) {
    std::string expected;
    for (const program::Event& e : events(p, r))
      expected += fmt::format("{}{} ", e.action.microbatch,
                              row(planner::classify_event(p.program, r, e.action)).fill);
    RC_ASSERT(find_cells(all.at(r)) == expected);
  }
}

RC_GTEST_PROP(Gantt, IsBlankExactlyWhereTheRankIsIdle, ()) {
  const planner::SimulatedStep p = sample::simulate_random_step();
  const std::map<i64, std::string> all = find_rows(draw(p, 220));
  for (i64 r = 0; r < p.program.pp(); ++r) {
    const std::string& row = all.at(r);
    const std::vector<Column> time = columns(p, r, row.size());
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (time[c].busy() < 1e-9) RC_ASSERT(row[c] == ' ');
      // A step that overlaps a cell for half of a column does not fill the column's idle
      // half.
      if (p.program.steps.empty() && time[c].busy() > 1 - 1e-9) RC_ASSERT(row[c] != ' ');
    }
  }
}

}  // namespace gantt_test
}  // namespace rankwright::report
