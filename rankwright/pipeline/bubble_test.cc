#include "rankwright/pipeline/bubble.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "rankwright/program/simulate.h"
#include "tests/support/pipelines.h"
#include "tests/support/sample.h"

namespace rankwright::pipeline {
namespace bubble_test {

// In units of F = I = W = 1, so B = 2 and a microbatch is 3. Four pp ranks, 16 microbatches of
// work: 48.
double idle(Schedule schedule, i64 pp, i64 chunks) {
  return bubble_ratio(schedule, pp, chunks, 16) * 48;
}

TEST(Bubble, OneRankHasNone) {
  ASSERT_EQ(schedules().size(), kSchedules);
  for (const ScheduleRow& s : schedules()) EXPECT_EQ(bubble_ratio(s.schedule, 1, 2, 4), 0);
}

TEST(Bubble, OneFOneBIsForwardAndBackwardOfTheOtherRanks) {  // B1: 3 x (1 + 2)
  EXPECT_DOUBLE_EQ(idle(Schedule::one_f_one_b, 4, 1), 9);
  EXPECT_DOUBLE_EQ(idle(Schedule::gpipe, 4, 1), 9);
  EXPECT_DOUBLE_EQ(bubble_ratio(Schedule::one_f_one_b, 4, 1, 16), 3.0 / 16);
}

TEST(Bubble, ChunksDivideTheBubble) {  // B2: 9 / 3
  EXPECT_DOUBLE_EQ(idle(Schedule::interleaved, 4, 3), 3);
  EXPECT_DOUBLE_EQ(idle(Schedule::looped_bfs, 4, 3), 3);
}

TEST(Bubble, ZbH1FillsTheBubbleWithWeightGradients) {  // B3: 3 x (1 + 1 - 1), over the chunks
  EXPECT_DOUBLE_EQ(idle(Schedule::zb_h1, 4, 1), 3);
  EXPECT_DOUBLE_EQ(idle(Schedule::interleaved_zb, 4, 2), 1.5);
}

TEST(Bubble, Zb2pAndZbVIdleOnlyInTheFill) {  // B4: the last rank begins 3 forwards late
  EXPECT_DOUBLE_EQ(idle(Schedule::zb_2p, 4, 1), 3);
  EXPECT_DOUBLE_EQ(idle(Schedule::zb_v, 4, 2), 1.5);
}

TEST(Bubble, DualPipeMatchesB5) {  // B5: (8/2 - 1) x (3 + 2 - 3); F&B = 3
  EXPECT_DOUBLE_EQ(idle(Schedule::dualpipe, 8, 1), 6);
  EXPECT_EQ(idle(Schedule::dualpipe, 2, 1), 0);
}

TEST(Bubble, DualPipeVHasHalfSizedStages) {  // B5: (4 - 1) x (3 + 2 - 3) / 2
  EXPECT_DOUBLE_EQ(idle(Schedule::dualpipe_v, 4, 2), 3);
}

RC_GTEST_PROP(Bubble, MatchesTheSimulation, ()) {
  // From two microbatches per pp rank on, in whole groups.
  PipelineShape shape = pipelines::valid_shape();
  shape.group = 0;
  shape.microbatches = shape.pp * *rc::gen::inRange<i64>(2, 6);
  const program::Program program = pipelines::program_of(shape);
  const program::Timeline timeline =
      simulate(program, make_equal_durations(program, Seconds{1}, Seconds{1}, Seconds{1}));
  const double work = 3 * double(shape.chunks * shape.microbatches);
  const double ratio = bubble_ratio(shape.schedule, shape.pp, shape.chunks, shape.microbatches);
  RC_ASSERT(std::abs(timeline.end.value - work * (1 + ratio)) < 1e-9 * work);
}

TEST(BubbleFraction, IsRelativeToTheWholeStep) {
  // 3 of 12 microbatches' work: 3 / (12 + 3)
  EXPECT_DOUBLE_EQ(bubble_fraction(Schedule::one_f_one_b, 4, 1, 12), 0.2);
}

RC_GTEST_PROP(Bubble, ShrinksWithMicrobatchesAndGrowsWithRanks, ()) {
  const ScheduleRow& s =
      *rc::gen::elementOf(std::vector<ScheduleRow>(schedules().begin(), schedules().end()));
  const i64 pp = *rc::gen::inRange<i64>(1, 65), m = *rc::gen::inRange<i64>(1, 1000);
  const double here = bubble_ratio(s.schedule, pp, s.min_chunks, m);
  RC_ASSERT(here >= 0);
  RC_ASSERT(std::abs(bubble_ratio(s.schedule, pp, s.min_chunks, 2 * m) - here / 2) < 1e-12);
  RC_ASSERT(bubble_ratio(s.schedule, pp + 1, s.min_chunks, m) >= here);
  const double part = bubble_fraction(s.schedule, pp, s.min_chunks, m);
  RC_ASSERT(part <= here && part < 1);
}

}  // namespace bubble_test
}  // namespace rankwright::pipeline
