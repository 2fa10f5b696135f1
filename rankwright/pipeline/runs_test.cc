#include "rankwright/pipeline/runs.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/pipeline/shared_orders.h"
#include "rankwright/program/cells.h"

namespace rankwright::pipeline {
namespace runs_test {

using Times = std::array<CellDurations, 2>;
using Runs = RunList (*)(i64 ranks, i64 rank, i64 microbatches);

constexpr Pattern kForward("F0"), kTurn("F1 I1"), kPair("F0&B1"), kWeight("W1");
constexpr std::array<ChunkStream, 2> kChunks{{{.stage = 0}, {.stage = 1}}};

std::string text(const RunList& list, i64 microbatches) {
  return program::show_cells({expand_runs(list, microbatches, kChunks)});
}

TEST(Pattern, ReadsKindsChunksAndJoinedCells) {
  ASSERT_EQ(kPair.cells().size(), 2);
  EXPECT_TRUE(kPair.cells()[0].joined);
  EXPECT_EQ(kPair.cells()[1].kind, ActionKind::backward);
  EXPECT_EQ(kPair.cells()[1].chunk, 1);
  EXPECT_EQ(kTurn.counts(), (CellCounts{0, 0, 0, 0, 1, 0, 1, 0}));
}

TEST(ExpandRuns, RepeatsPatternsAndCountsMicrobatches) {
  EXPECT_EQ(text({{&kForward, 2}, {&kTurn, 2}, {&kWeight, 2}}, 2),
            "0F0,0F1,1F0,1I0,1F1,1I1,1W0,1W1\n");
}

TEST(ExpandRuns, LeavesOutMicrobatchesBeyondTheLast) {
  EXPECT_EQ(text({{&kForward, 2}, {&kTurn, 2}, {&kWeight, 2}}, 1), "0F0,1F0,1I0,1W0\n");
}

TEST(ExpandRuns, GivesWeightGradientsTheMicrobatchOfTheirInputGradient) {
  // The backward of microbatch 0 is one cell, so the only weight gradient is that of microbatch 1.
  EXPECT_EQ(text({{&kPair, 1}, {&kTurn, 1}, {&kWeight, 1}}, 2),
            "(0F0;1B0)OVERLAP_F_B,1F0,1I1,1W1\n");
}

TEST(RunCounter, CountsCellsAndWorkBeforeACell) {
  // F0 F0 | F1 I1 F1 I1: before the second I1 are two F0, two F1 and one I1, 2 x 1 + 2 x 5 + 7.
  const RunList list{{&kForward, 2}, {&kTurn, 2}};
  const Times times{CellDurations{1, 2, 3}, CellDurations{5, 7, 11}};
  const CountedCell cell = RunCounter(list, 2).find({false, 1}, 1, times);
  EXPECT_EQ(cell.position, 5);
  EXPECT_EQ(cell.before, 19);
  EXPECT_EQ(cell.length, 7);
}

TEST(RunCounter, StartsJoinedCellsTogether) {
  // F0 | F0&B1: the pair starts after the first F0 and takes 1 + (7 + 11).
  const RunList list{{&kForward, 1}, {&kPair, 1}};
  const Times times{CellDurations{1, 2, 3}, CellDurations{5, 7, 11}};
  const RunCounter counter(list, 2);
  const CountedCell forward = counter.find({true, 0}, 1, times);
  const CountedCell backward = counter.find({false, 1}, 0, times);
  EXPECT_EQ(forward.position + 1, backward.position);
  EXPECT_EQ(forward.before, 1);
  EXPECT_EQ(backward.before, 1);
  EXPECT_EQ(forward.length, 19);
  EXPECT_EQ(backward.length, 19);
}

double duration_of(const Action& a, const Times& times) {
  const CellDurations& t = times[a.stage];
  if (a.kind == ActionKind::forward) return t.forward;
  if (a.kind == ActionKind::backward) return t.backward();
  return a.kind == ActionKind::input_grad ? t.input : t.weight;
}

/// Checks every forward and every gradient of a rank against a walk over its cells.
void check_rank(const RunList& list, i64 microbatches, const Times& times) {
  const Sequence cells = expand_runs(list, microbatches, kChunks);
  const RunCounter counter(list, microbatches);
  double work = 0;
  RC_ASSERT(!cells.empty());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Action& a = cells[i];
    const double own = duration_of(a, times);
    const double previous = i > 0 && cells[i - 1].joined ? duration_of(cells[i - 1], times) : 0;
    const double next = a.joined ? duration_of(cells[i + 1], times) : 0;
    if (a.kind != ActionKind::weight_grad) {
      const bool forward = a.kind == ActionKind::forward;
      const CountedCell found = counter.find({forward, a.stage}, double(a.microbatch), times);
      RC_ASSERT(found.position == double(i));
      RC_ASSERT(found.before == work - previous);
      RC_ASSERT(found.length == previous + own + next);
    }
    work += own;
  }
}

/// Whole numbers of seconds, so that sums are exact.
Times any_times() {
  const auto some = [] { return double(*rc::gen::inRange(0, 20)); };
  return {CellDurations{some(), some(), some()}, CellDurations{some(), some(), some()}};
}

void check_all_ranks(Runs runs, i64 ranks, i64 microbatches) {
  const Times times = any_times();
  for (i64 r = 0; r < ranks; ++r) check_rank(runs(ranks, r, microbatches), microbatches, times);
}

RC_GTEST_PROP(RunCounter, OfZbVEqualsTheExpandedOrder, ()) {
  check_all_ranks(zb_v_runs, *rc::gen::inRange<i64>(1, 12), *rc::gen::inRange<i64>(1, 40));
}

RC_GTEST_PROP(RunCounter, OfDualPipeEqualsTheExpandedOrder, ()) {
  const i64 ranks = *rc::gen::inRange<i64>(1, 12);
  check_all_ranks(dualpipe_runs, ranks, 2 * ranks + *rc::gen::inRange<i64>(0, 20));
}

}  // namespace runs_test
}  // namespace rankwright::pipeline
