#include "rankwright/pipeline/order.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "rankwright/pipeline/held.h"
#include "rankwright/program/cells.h"
#include "tests/support/pipelines.h"

namespace rankwright::pipeline {
namespace order_test {

using pipelines::program_of;
using pipelines::valid_shape;

std::string text(Schedule schedule, i64 pp, i64 chunks, i64 microbatches, i64 group = 0) {
  return program::show_cells(cells({schedule, pp, chunks, microbatches, group}));
}

TEST(Schedules, OneStageRunsOneMicrobatchAfterTheOther) {
  ASSERT_EQ(schedules().size(), kSchedules);
  for (const ScheduleRow& s : schedules())
    EXPECT_EQ(text(s.schedule, 1, 1, 2), "0F0,0B0,0F1,0B1\n") << s.name;
}

TEST(GPipe, RunsAllForwardsThenAllBackwards) {
  EXPECT_EQ(text(Schedule::gpipe, 2, 1, 3), "0F0,0F1,0F2,0B0,0B1,0B2\n1F0,1F1,1F2,1B0,1B1,1B2\n");
}

TEST(OneFOneB, WarmsUpByDistanceToTheLastStageThenAlternates) {
  EXPECT_EQ(text(Schedule::one_f_one_b, 3, 1, 4),
            "0F0,0F1,0F2,0B0,0F3,0B1,0B2,0B3\n"
            "1F0,1F1,1B0,1F2,1B1,1F3,1B2,1B3\n"
            "2F0,2B0,2F1,2B1,2F2,2B2,2F3,2B3\n");
}

TEST(Interleaved, RunsGroupsThroughTheChunks) {
  // pp 2, 2 chunks: rank 0 starts with 2(2 - 0 - 1) + (2 - 1)2 = 4 forwards, rank 1 with 2.
  EXPECT_EQ(text(Schedule::interleaved, 2, 2, 4),
            "0F0,0F1,2F0,2F1,0F2,2B0,0F3,2B1,2F2,0B0,2F3,0B1,2B2,2B3,0B2,0B3\n"
            "1F0,1F1,3F0,3B0,3F1,3B1,1F2,1B0,1F3,1B1,3F2,3B2,3F3,3B3,1B2,1B3\n");
}

TEST(Interleaved, UsesTheGivenGroupSize) {
  // A group of 4: all four microbatches pass chunk 0 first; rank 0 starts with 2 + 4 = 6 forwards.
  EXPECT_TRUE(text(Schedule::interleaved, 2, 2, 4, 4).starts_with("0F0,0F1,0F2,0F3,2F0,2F1,2F2,"));
}

TEST(Interleaved, MergesARemainderSmallerThanThePipeline) {
  // 5 microbatches in groups of 4 leave 1, so the last group has 5.
  EXPECT_TRUE(text(Schedule::interleaved, 4, 2, 5).starts_with("0F0,0F1,0F2,0F3,0F4,4F0,"));
  // 7 leave 3, which is not smaller than pp 3, so they are a group.
  const std::string own = text(Schedule::interleaved, 3, 2, 7, 4);
  EXPECT_TRUE(own.starts_with("0F0,0F1,0F2,0F3,3F0,3F1,3F2,3F3,")) << own;
}

TEST(LoopedBfs, RunsAllMicrobatchesThroughOneChunkAtATime) {
  // Backwards begin with the last microbatch, as in torch (tests/frameworks/schedules_test.py).
  EXPECT_EQ(text(Schedule::looped_bfs, 2, 2, 2),
            "0F0,0F1,2F0,2F1,2B1,2B0,0B1,0B0\n"
            "1F0,1F1,3F0,3F1,3B1,3B0,1B1,1B0\n");
}

TEST(ZbH1, DefersWeightGradientsByTheRank) {
  // Rank 0 starts with two forwards and does not defer W; rank 2 starts with none and defers W by
  // two input gradients.
  EXPECT_EQ(text(Schedule::zb_h1, 3, 1, 3),
            "0F0,0F1,0F2,0I0,0W0,0I1,0W1,0I2,0W2\n"
            "1F0,1F1,1I0,1F2,1I1,1W0,1I2,1W1,1W2\n"
            "2F0,2I0,2F1,2I1,2F2,2I2,2W0,2W1,2W2\n");
}

TEST(Zb2p, RunsForwardsUntilTheFirstGradient) {
  // pp 2: the first gradient returns to rank 0 after 3 time units, 2 pp - 1 forwards. Memory allows
  // 2 pp microbatches, so W runs only when memory is needed or nothing else is ready.
  EXPECT_EQ(text(Schedule::zb_2p, 2, 1, 3),
            "0F0,0F1,0F2,0I0,0W0,0I1,0W1,0I2,0W2\n"
            "1F0,1I0,1F1,1I1,1F2,1I2,1W0,1W1,1W2\n");
}

TEST(ZbV, PassesRanksDownAndBackUp) {
  // Rank 1 has stages 1 and 2, so 1F0 is followed by 2F0 without a transfer.
  EXPECT_EQ(text(Schedule::zb_v, 2, 2, 3),
            "0F0,0F1,0F2,3F0,3I0,3W0,3F1,3I1,3W1,0I0,0W0,3F2,3I2,3W2,0I1,0W1,0I2,0W2\n"
            "1F0,2F0,1F1,2F1,2I0,2W0,1F2,1I0,1W0,2F2,2I1,2W1,1I1,2I2,1I2,1W1,2W2,1W2\n");
}

TEST(DualPipe, OverlapsStreamsFromBothEnds) {
  // pp 2: rank 0 has stage 0 for microbatches 0, 1 and stage 1 for 2, 3; rank 1 the other way.
  EXPECT_EQ(text(Schedule::dualpipe, 2, 1, 4),
            "0F0,1F2,0F1,1B2,(1F3;0B0)OVERLAP_F_B,1B3,0I1,0W1\n"
            "0F2,1F0,0F3,1B0,(1F1;0B2)OVERLAP_F_B,1B1,0I3,0W3\n");
}

TEST(DualPipeV, FoldsItAtTheMiddle) {
  // One rank is its own turn: both chunks, no bubble.
  EXPECT_EQ(text(Schedule::dualpipe_v, 1, 2, 2),
            "0F0,1F0,0F1,1B0,(1F1;0B0)OVERLAP_F_B,1B1,0I1,0W1\n");
}

TEST(ScheduleTable, HasCompleteRowsInTheOrderOfEnumerators) {
  ASSERT_EQ(schedules().size(), kSchedules);
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kSchedules; ++i) {
    const ScheduleRow& s = schedules()[i];
    EXPECT_EQ(std::size_t(s.schedule), i) << s.name;
    EXPECT_EQ(row(s.schedule).name, s.name);
    EXPECT_TRUE(!s.name.empty() && names.insert(s.name).second) << s.name;
    EXPECT_TRUE(s.order && s.in_flight && s.held && s.bubble && s.time) << s.name;
    EXPECT_TRUE(1 <= s.min_chunks && s.min_chunks <= s.max_chunks && s.multiple >= 1) << s.name;
  }
}

TEST(DefaultSchedule, IsInterleavedWithSeveralChunks) {
  EXPECT_EQ(default_schedule(1), Schedule::one_f_one_b);
  EXPECT_EQ(default_schedule(2), Schedule::interleaved);
}

// Laws over the whole table.

RC_GTEST_PROP(EverySchedule, RunsEveryCellOnceOnTheRankOfItsStage, ()) {
  const PipelineShape shape = valid_shape();
  const Sequences ranks = cells(shape);
  const program::CellSet set = program::inspect_cells(ranks);
  RC_ASSERT(set.faults.empty());
  RC_ASSERT(set.stages == shape.stages());
  RC_ASSERT(set.microbatches == shape.microbatches);
  for (std::size_t r = 0; r < ranks.size(); ++r)
    for (const Action& a : ranks[r])
      RC_ASSERT(find_pp_rank(shape, a.stage, a.microbatch) == i64(r));
}

i64 held_at_max(const Sequence& rank) {
  i64 held = 0, max = 0;
  for (const Action& a : rank) {
    if (a.kind == ActionKind::forward) max = std::max(max, ++held);
    if (a.kind == ActionKind::backward || a.kind == ActionKind::weight_grad) --held;
  }
  return max;
}

RC_GTEST_PROP(EverySchedule, HoldsAtMostMaxInFlight, ()) {
  const PipelineShape shape = valid_shape();
  const Sequences ranks = cells(shape);
  RC_ASSERT(i64(ranks.size()) == shape.pp);
  for (std::size_t r = 0; r < ranks.size(); ++r)
    RC_ASSERT(held_at_max(ranks[r]) <= max_in_flight(shape, i64(r)));
}

TEST(EverySchedule, ReachesMaxInFlightOnSomeRank) {
  // The bound is tight: with many microbatches some rank reaches it.
  ASSERT_EQ(schedules().size(), kSchedules);
  for (const ScheduleRow& s : schedules()) {
    const PipelineShape shape{s.schedule, 4, s.min_chunks, 32};
    const Sequences ranks = cells(shape);
    i64 min_slack = 1000;
    for (std::size_t r = 0; r < ranks.size(); ++r)
      min_slack = std::min(min_slack, max_in_flight(shape, i64(r)) - held_at_max(ranks[r]));
    EXPECT_EQ(min_slack, 0) << s.name;
  }
}

// The weight that a rank holds if its chunks differ.

/// Computes the maximum held weight by brute force, cell by cell.
double weighed(const Sequence& rank, const std::vector<i64>& stages,
               const std::vector<double>& weights) {
  double held = 0, max = 0;
  for (const Action& a : rank) {
    const std::size_t chunk =
        std::size_t(std::find(stages.begin(), stages.end(), i64(a.stage)) - stages.begin());
    if (a.kind == ActionKind::forward) max = std::max(max, held += weights[chunk]);
    if (a.kind == ActionKind::backward || a.kind == ActionKind::weight_grad) held -= weights[chunk];
  }
  return max;
}

std::vector<i64> stages_on(const PipelineShape& s, i64 pp_rank) {
  plan::Plan plan{.pp = s.pp, .virtual_stages = s.chunks, .schedule = s.schedule};
  return list_stages(plan, pp_rank);
}

TEST(MaxHeld, UnequalChunksFollowTheOrder) {
  // Interleaved, pp 2, 2 chunks: rank 0 starts with 0F0 0F1 2F0 2F1 0F2, three of five in chunk 0.
  // Then chunk 1 activations are freed while chunk 0 ones are created (2B0 0F3): at most four of
  // chunk 0 and one of chunk 1.
  const PipelineShape shape{Schedule::interleaved, 2, 2, 4};
  EXPECT_EQ(max_held(shape, 0, std::vector<double>{10, 1}), 41);
  EXPECT_EQ(max_held(shape, 0, std::vector<double>{1, 10}), 23);
  EXPECT_EQ(max_held(shape, 0, std::vector<double>{1, 1}), 5);
}

RC_GTEST_PROP(MaxHeld, MatchesBruteForce, ()) {
  const PipelineShape shape = valid_shape();
  const Sequences ranks = cells(shape);
  const ScheduleRow& schedule = row(shape.schedule);
  const bool vee = schedule.stage_order == StageOrder::vee;
  for (i64 r = 0; r < shape.pp; ++r) {
    const std::vector<i64> stages = stages_on(shape, r);
    std::vector<double> weights;
    for (std::size_t k = 0; k < stages.size(); ++k)
      weights.push_back(double(*rc::gen::inRange<i64>(0, 4)));
    const double brute = weighed(ranks[std::size_t(r)], stages, weights);
    const double stated = max_held(shape, r, weights);
    RC_ASSERT(brute <= stated);
    const bool reached = held_at_max(ranks[std::size_t(r)]) == max_in_flight(shape, r);
    if (reached && !(vee && shape.microbatches < 2 * shape.pp)) RC_ASSERT(brute == stated);
  }
}

RC_GTEST_PROP(MaxHeld, IsAtLeastThatOfWholeMicrobatches, ()) {
  const PipelineShape shape = valid_shape();
  RC_PRE(row(shape.schedule).stage_order != StageOrder::mirror);
  for (i64 r = 0; r < shape.pp; ++r) {
    std::vector<double> weights;
    double sum = 0;
    for (i64 k = 0; k < shape.chunks; ++k) {
      weights.push_back(double(*rc::gen::inRange<i64>(0, 4)));
      sum += weights.back();
    }
    RC_ASSERT(whole_in_flight(shape, r) >= 1);
    RC_ASSERT(double(whole_in_flight(shape, r)) * sum <= max_held(shape, r, weights));
  }
}

TEST(WholeInFlight, InterleavedHoldsAGroupOfEveryChunk) {
  // Rank 0 of 4 holds a group of 4 microbatches in both chunks before its first backward; the last
  // rank runs the backward of its first microbatch at once.
  const PipelineShape shape{Schedule::interleaved, 4, 2, 16};
  EXPECT_EQ(whole_in_flight(shape, 0), 4);
  EXPECT_EQ(whole_in_flight(shape, 3), 1);
}

RC_GTEST_PROP(EverySchedule, HasCellCountCells, ()) {
  const PipelineShape shape = valid_shape();
  i64 counted = 0;
  for (const Sequence& rank : cells(shape)) counted += i64(rank.size());
  // DualPipe and DualPipeV split only some of their backwards.
  const bool dual = shape.schedule == Schedule::dualpipe || shape.schedule == Schedule::dualpipe_v;
  const i64 stated = *cell_count(shape);
  const bool fewer = dual || shape.stages() == 1;
  RC_ASSERT((fewer ? counted <= stated : counted == stated));
}

RC_GTEST_PROP(EverySchedule, RoundTripsThroughText, ()) {
  const Sequences ranks = cells(valid_shape());
  const Result<program::WrittenSchedule> read =
      program::parse_cells(program::show_cells(ranks), "order.csv");
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->ranks == ranks);
  RC_ASSERT(!read->transfers);
}

}  // namespace order_test
}  // namespace rankwright::pipeline
