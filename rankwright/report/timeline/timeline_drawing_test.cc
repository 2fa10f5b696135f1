#include "rankwright/report/timeline/timeline_drawing.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "tests/support/simulated_steps.h"

namespace rankwright::report {
namespace timeline_drawing_test {

using ::testing::ElementsAre;

/// WCAG 2.1 requires a contrast of 4.5 for text and 3 for large text.
double compute_contrast(Rgb a, Rgb b) {
  const auto luminance = [](Rgb c) {
    const auto linear = [](int value) {
      const double v = value / 255.0;
      return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
  };
  const double one = luminance(a) + 0.05, other = luminance(b) + 0.05;
  return std::max(one, other) / std::min(one, other);
}

TEST(EventColor, IsReadableInEveryShade) {
  for (std::size_t i = 0; i < planner::kEventKinds; ++i)
    for (const i64 chunks : {1, 2, 4, 16})
      for (i64 chunk = 0; chunk < chunks; ++chunk) {
        const Rgb ground = shade(planner::EventKind(i), chunk, chunks);
        EXPECT_GE(compute_contrast(ground, choose_text_color(ground)), 4.5) << hex(ground);
      }
}

TEST(EventColor, TellsChunksApart) {
  for (std::size_t i = 0; i < planner::kEventKinds; ++i)
    for (i64 chunk = 1; chunk < 4; ++chunk)
      EXPECT_NE(shade(planner::EventKind(i), chunk, 4), shade(planner::EventKind(i), chunk - 1, 4))
          << row(planner::EventKind(i)).name;
  EXPECT_EQ(shade(planner::EventKind::forward, 0, 1), row(planner::EventKind::forward).color);
}

TEST(EventColor, MapsToTerminalColors) {
  EXPECT_EQ(find_terminal_color({0, 0, 0}), 16);         // the first color of the cube
  EXPECT_EQ(find_terminal_color({255, 255, 255}), 231);  // 16 + 36 x 5 + 6 x 5 + 5
  EXPECT_EQ(find_terminal_color({90, 0, 0}), 16 + 36);   // 90 is nearest to 95, the second level
  EXPECT_EQ(hex({0, 0x72, 0xB2}), "#0072b2");
}

TEST(DrawnRanks, AreAllOfFewOrASampleWithFirstAndLast) {
  EXPECT_THAT(select_ranks_to_draw(1, 8), ElementsAre(0));
  EXPECT_THAT(select_ranks_to_draw(4, 8), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(select_ranks_to_draw(128, 1), ElementsAre(0));
  EXPECT_THAT(select_ranks_to_draw(101, 5), ElementsAre(0, 25, 50, 75, 100));
}

RC_GTEST_PROP(DrawnRanks, IncreaseFromTheFirstToTheLast, ()) {
  const i64 pp = *rc::gen::inRange<i64>(2, 5000), max = *rc::gen::inRange<i64>(2, 200);
  const std::vector<i64> ranks = select_ranks_to_draw(pp, max);
  RC_ASSERT(i64(ranks.size()) == std::min(pp, max));
  RC_ASSERT(ranks.front() == 0);
  RC_ASSERT(ranks.back() == pp - 1);
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    RC_ASSERT(ranks[i] > ranks[i - 1]);
    RC_ASSERT(ranks[i] - ranks[i - 1] <= (pp - 1) / (i64(ranks.size()) - 1) + 1);
  }
}

TEST(Shades, FollowChunksOrDirections) {
  const pipeline::PipelineShape looped{
      .schedule = pipeline::Schedule::interleaved, .pp = 4, .chunks = 2, .microbatches = 8};
  EXPECT_EQ(count_shades(looped), 2);
  EXPECT_EQ(find_shade(looped, 1, pipeline::cell::F(1, 0)), 0);
  EXPECT_EQ(find_shade(looped, 1, pipeline::cell::F(5, 0)),
            1);  // stage 5 of 8 is the second of rank 1
  const pipeline::PipelineShape mirror{
      .schedule = pipeline::Schedule::dualpipe, .pp = 4, .microbatches = 8};
  EXPECT_EQ(count_shades(mirror), 2);
  EXPECT_EQ(find_shade(mirror, 1, pipeline::cell::F(1, 0)), 0);
  EXPECT_EQ(find_shade(mirror, 1, pipeline::cell::F(2, 4)), 1);  // stage 2 on rank 4 - 1 - 2
}

RC_GTEST_PROP(Shades, AreInRangeForEveryCell, ()) {
  const planner::SimulatedStep p = sample::simulate_random_step();
  i64 checked = 0;
  for (i64 r = 0; r < p.program.pp(); ++r)
    for (const program::Event& e : events(p, r)) {
      const i64 shade = find_shade(p.shape, r, e.action);
      RC_ASSERT(shade >= 0 && shade < count_shades(p.shape));
      ++checked;
    }
  RC_ASSERT(checked == planner::slice_count(p.program));
}

TEST(EventName, NamesTheCellOrTheStep) {
  planner::SimulatedStep p = sample::four_by_eight();
  EXPECT_EQ(name_event(p.program, 2, pipeline::cell::F(2, 0)), "2F0");
  EXPECT_EQ(name_event(p.program, 2, pipeline::cell::W(2, 7)), "2W7");
  sample::add_steps(p.program);
  EXPECT_EQ(name_event(p.program, 0, action(pipeline::ActionKind::step, 0, 0)), "DP all-reduce");
  EXPECT_EQ(name_event(p.program, 0, action(pipeline::ActionKind::step, 0, 2)), "optimizer");
}

TEST(Columns, SplitEventsAtTheirBoundaries) {
  // One rank, F 1 s and B 2 s: the first of two columns of 1.5 s has F and a quarter of B.
  const planner::SimulatedStep p = sample::simulate_unit_step({.pp = 1, .microbatches = 1});
  const std::vector<Column> two = columns(p, 0, 2);
  EXPECT_DOUBLE_EQ(two[0].of(planner::EventKind::forward), 1 / 1.5);
  EXPECT_DOUBLE_EQ(two[0].of(planner::EventKind::backward), 0.5 / 1.5);
  EXPECT_DOUBLE_EQ(two[1].backward(), 1);
}

RC_GTEST_PROP(Columns, AddUpToTheTimeOfTheRank, ()) {
  const planner::SimulatedStep p = sample::simulate_random_step();
  const std::size_t count = *rc::gen::inRange<std::size_t>(1, 200);
  const Seconds width = p.timeline.end / double(count);
  for (i64 r = 0; r < p.program.pp(); ++r) {
    Seconds cells{};
    for (const Column& c : columns(p, r, count)) {
      RC_ASSERT(c.busy() < 1 + 1e-9);
      cells += (c.of(planner::EventKind::forward) + c.backward()) * width;
    }
    RC_ASSERT(std::abs((cells - p.timeline.busy[std::size_t(r)]).value) < 1e-9);
  }
}

}  // namespace timeline_drawing_test
}  // namespace rankwright::report
