#include "rankwright/planner/timeline/simulated_step.h"

#include <gtest/gtest.h>

#include "rankwright/planner/timeline/event_kind.h"
#include "tests/support/simulated_steps.h"

namespace rankwright::planner {
namespace played_test {

TEST(SimulatedStep, FourRanksEightMicrobatches_TakesElevenSlots) {
  // 8 microbatches, plus 3 to fill the pipeline, 3 s each: (8 + 3) x 3 s.
  const SimulatedStep p = sample::four_by_eight();
  EXPECT_EQ(p.timeline.end, Seconds{33});
  EXPECT_EQ(p.what, "1f1b");
  EXPECT_EQ(cell_count(p.program), 4 * 8 * 2);
}

TEST(IsBeside, OnlyMarkedSteps_OverlapWithCells) {
  SimulatedStep p = sample::four_by_eight();
  sample::add_steps(p.program);
  EXPECT_TRUE(is_beside(p.program, 0, action(pipeline::ActionKind::step, 0, 0)));
  EXPECT_FALSE(is_beside(p.program, 0, action(pipeline::ActionKind::step, 0, 2)));
  EXPECT_FALSE(is_beside(p.program, 0, pipeline::cell::F(0, 0)));
}

TEST(SliceCount, CellsAndSteps_AreCounted_TransfersAreNot) {
  SimulatedStep p = sample::four_by_eight();
  EXPECT_EQ(slice_count(p.program), cell_count(p.program));
  sample::add_steps(p.program);  // three per rank
  EXPECT_EQ(slice_count(p.program), cell_count(p.program) + 4 * 3);
}

TEST(EventKind, Steps_AreCollectivesOrTheOptimizer) {
  SimulatedStep p = sample::four_by_eight();
  sample::add_steps(p.program);
  EXPECT_EQ(classify_event(p.program, 0, pipeline::cell::F(0, 0)), EventKind::forward);
  EXPECT_EQ(classify_event(p.program, 0, pipeline::cell::W(0, 0)), EventKind::weight_grad);
  EXPECT_EQ(classify_event(p.program, 0, action(pipeline::ActionKind::step, 0, 1)),
            EventKind::collective);
  EXPECT_EQ(classify_event(p.program, 0, action(pipeline::ActionKind::step, 0, 2)),
            EventKind::optimizer);
}

}  // namespace played_test
}  // namespace rankwright::planner
