#include "rankwright/planner/explain_timeline.h"

#include <gmock/gmock.h>

#include "tests/support/golden.h"
#include "tests/support/refusal_lines.h"

namespace rankwright::planner {
namespace explain_timeline_test {

using ::testing::HasSubstr;

std::string render_plan_text(i64 batch) {
  return "model: llama-3.2-1b\ncluster: dgx-h100 x 1\njob: {global_batch: " +
         std::to_string(batch) + ", sequence: 2048}\nparallelism: {pp_size: 8, micro_batch: 1}\n";
}

TEST(ExplainTimeline, UnitTimes_TakeOneUnitPerForwardAndTwoPerBackward) {
  // 16 microbatches, plus 7 to fill the pipeline, 3 s each.
  const Outcome<TimelineAnswer> answer =
      explain_timeline({.plan = {.plan = {"plan.yaml", render_plan_text(16)}}, .unit_times = true});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->step.summary.end, Seconds{(16 + 7) * 3.0});
  EXPECT_EQ(answer->step.summary.cells, 8 * 16 * 2);
}

/// Returns whether the timeline advises to move layers off the longest pp rank.
std::optional<bool> advises_fewer_layers(const std::string& stages) {
  const Outcome<TimelineAnswer> answer =
      explain_timeline({.plan = {.plan = {"plan.yaml",
                                          "model: llama-2-13b\ncluster: dgx-h100 x 4\n"
                                          "job: {global_batch: 16, sequence: 4096}\n"
                                          "parallelism: {tp_size: 4, pp_size: 4, dp_size: 2" +
                                              stages + "}\n"}}});
  EXPECT_TRUE(answer.has_value());
  return answer ? answer->step.summary.can_move_layers : std::nullopt;
}

TEST(ExplainTimeline, AdvisesFewerLayersOnlyIfStagesDoes) {
  // 10 layers per stage and the head on the last: 9 there would put 11 elsewhere, which is no more
  // even. With 13 layers on the last stage, moving some is.
  EXPECT_EQ(advises_fewer_layers(""), false);
  EXPECT_EQ(advises_fewer_layers(", stages: [9, 9, 9, 13]"), true);
}

TEST(ExplainTimeline, TooManyCells_AreRefusedWithASmallerBatch) {
  // 16 cells per microbatch: 1,000,000 cells allow 62,496 microbatches, a multiple of 16.
  const Outcome<TimelineAnswer> answer =
      explain_timeline({.plan = {.plan = {"plan.yaml", render_plan_text(4'194'304)}}});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, Refusal::Kind::refused);
  EXPECT_THAT(answer.error().hint, HasSubstr("job: {global_batch: 62496}"));
  golden::expect("planner/timeline-too-many-cells.txt",
                 format_refusal("a batch of 4,194,304 on 8 pp ranks", answer));
}

TEST(ExplainTimeline, Trace_HoldsFewerCells) {
  // 2 x 4 x 120,000 cells and more than a million buckets that are reduced and gathered exceed the
  // trace's limit of two million slices.
  const PlanSource plan{.plan = {"plan.yaml",
                                 "model: llama-3.2-1b\ncluster: dgx-h100 x 1\n"
                                 "job: {global_batch: 240000, sequence: 2048}\nparallelism: "
                                 "{pp_size: 4, dp_size: 2, micro_batch: 1, zero_stage: 1, "
                                 "bucket_size: 1300}\n"}};
  const Outcome<TimelineAnswer> answer = explain_timeline({.plan = plan, .traced = true});
  ASSERT_FALSE(answer.has_value());
  golden::expect("planner/timeline-too-many-slices.txt",
                 format_refusal("a batch of 240,000 in small buckets, as a trace", answer));
}

TEST(ExplainSchedule, WrittenCells_AreSimulatedWithUnitTimes) {
  // F takes 1 s and B takes 2 s, on one rank.
  const Outcome<SummarizedStep> step = explain_schedule({"order.csv", "0F0,0B0\n"}, false);
  ASSERT_TRUE(step.has_value());
  EXPECT_EQ(step->summary.end, Seconds{3});
  EXPECT_EQ(step->simulated.what, "as written");
}

TEST(ExplainSchedule, InvalidCells_AreUnreadable) {
  const Outcome<SummarizedStep> step = explain_schedule({"order.csv", "0F0,xx\n"}, false);
  ASSERT_FALSE(step.has_value());
  EXPECT_EQ(step.error().kind, Refusal::Kind::unreadable);
  EXPECT_EQ(step.error().file.name, "order.csv");
}

TEST(ExplainSchedule, DeadlockedRank_IsRefused) {
  const Outcome<SummarizedStep> step = explain_schedule({"order.csv", "0B0,0F0\n"}, false);
  ASSERT_FALSE(step.has_value());
  EXPECT_EQ(step.error().kind, Refusal::Kind::refused);
}

}  // namespace explain_timeline_test
}  // namespace rankwright::planner
