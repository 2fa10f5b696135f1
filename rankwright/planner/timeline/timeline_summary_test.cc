#include "rankwright/planner/timeline/timeline_summary.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "tests/support/simulated_steps.h"

namespace rankwright::planner {
namespace timeline_summary_test {

TEST(TimelineSummary, FourRanksEightMicrobatches_MatchesHandArithmetic) {
  // 8 microbatches through 4 ranks take (8 + 3) x 3 s, of which each rank works 8 x 3 s.
  const TimelineSummary s = summary(sample::four_by_eight());
  EXPECT_EQ(s.cells, 64);
  EXPECT_EQ(s.end, Seconds{33});
  EXPECT_DOUBLE_EQ(s.idle, 3.0 / 11);
  ASSERT_EQ(s.ranks.size(), 4u);
  for (i64 r = 0; r < 4; ++r) {
    EXPECT_EQ(s.ranks[std::size_t(r)].held, 4 - r);
    EXPECT_EQ(s.ranks[std::size_t(r)].idle, Seconds{9});
  }
  EXPECT_EQ(s.critical[std::size_t(EventKind::forward)], Seconds{11});
  EXPECT_EQ(s.critical[std::size_t(EventKind::backward)], Seconds{22});
}

RC_GTEST_PROP(TimelineSummary, CriticalPath_IsAsLongAsTheStep, ()) {
  const SimulatedStep p = sample::simulate_random_step();
  const TimelineSummary s = summary(p);
  Seconds by_rank = s.travelled, by_kind = s.travelled;
  for (const RankSummary& rank : s.ranks) by_rank += rank.critical;
  for (const Seconds one : s.critical) by_kind += one;
  RC_ASSERT(std::abs((by_rank - s.end).value) < 1e-9);
  RC_ASSERT(std::abs((by_kind - s.end).value) < 1e-9);
  RC_ASSERT(s.path.front().begin == Seconds{});
  for (std::size_t i = 1; i < s.path.size(); ++i) {
    RC_ASSERT(s.path[i].pp_rank != s.path[i - 1].pp_rank);
    RC_ASSERT(s.path[i].begin >= s.path[i - 1].end - 1e-9 * Seconds{1});
  }
}

/// There is no slack: the predecessor of a link ended at that moment, or its message was in transit
/// from another rank.
RC_GTEST_PROP(TimelineSummary, CriticalPath_HasNoGaps, ()) {
  const SimulatedStep p = sample::simulate_random_step();
  i64 before = -1;
  const std::vector<program::CriticalLink> path =
      find_critical_path(p.program, p.durations, p.timeline);
  RC_ASSERT(!path.empty());
  for (const program::CriticalLink& link : path) {
    RC_ASSERT(link.travelled.value > -1e-9);
    Seconds longest{};
    for (const Seconds one : p.durations.activation) longest = std::max(longest, one);
    for (const Seconds one : p.durations.gradient) longest = std::max(longest, one);
    if (before == link.pp_rank) longest = {};
    RC_ASSERT(link.travelled.value < longest.value + 1e-9);
    before = link.pp_rank;
  }
}

RC_GTEST_PROP(TimelineSummary, TimeOfARank_IsWorkOrIdle, ()) {
  const SimulatedStep p = sample::simulate_random_step();
  const TimelineSummary s = summary(p);
  Seconds idle{};
  RC_ASSERT(i64(s.ranks.size()) == p.program.pp());
  for (const RankSummary& rank : s.ranks) {
    RC_ASSERT(std::abs((rank.cells + rank.steps + rank.idle - s.end).value) < 1e-9);
    RC_ASSERT(rank.held <= pipeline::max_in_flight(p.shape, rank.pp_rank));
    idle += rank.idle;
  }
  RC_ASSERT(std::abs(s.idle - idle / (double(s.ranks.size()) * s.end)) < 1e-9);
}

TEST(TimelineSummary, OneRank_HasNoBubble) {
  const TimelineSummary s = summary(sample::simulate_unit_step({.pp = 1, .microbatches = 3}));
  EXPECT_DOUBLE_EQ(s.idle, 0);
  EXPECT_EQ(s.longest().pp_rank, 0);
}

TEST(Bands, OneFOneB_HasWarmUpSteadyStateAndDrain) {
  // Rank 0 begins its first backward pass after 4 F down the pipeline and 3 B up, at 4 + 6. It ends
  // its last forward pass after the 4 B and 4 F that follow: 10 + 4 x 2 + 4.
  const SimulatedStep p = sample::four_by_eight();
  std::vector<program::Phases> ranks;
  for (i64 r = 0; r < 4; ++r) ranks.push_back(phases(events(p, r)));
  const std::vector<Band> found = bands(ranks, p.timeline.end);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].name, "warm-up");
  EXPECT_EQ(found[0].length(), Seconds{10});
  EXPECT_EQ(found[1].name, "steady");
  EXPECT_EQ(found[1].length(), Seconds{12});
  EXPECT_EQ(found[2].name, "drain");
  EXPECT_EQ(found[2].end, Seconds{33});
}

TEST(Bands, Gpipe_HasNoSteadyState) {
  // All 8 forward passes reach the last of 4 ranks at 3 + 8. There the first backward pass begins.
  const SimulatedStep p = sample::simulate_unit_step(
      {.schedule = pipeline::Schedule::gpipe, .pp = 4, .microbatches = 8});
  std::vector<program::Phases> ranks;
  for (i64 r = 0; r < 4; ++r) ranks.push_back(phases(events(p, r)));
  const std::vector<Band> found = bands(ranks, p.timeline.end);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].end, Seconds{11});
  EXPECT_EQ(found[1].name, "drain");
  EXPECT_TRUE(bands({}, Seconds{1}).empty());
}

RC_GTEST_PROP(Bands, RandomStep_IsCovered, ()) {
  const SimulatedStep p = sample::simulate_random_step();
  std::vector<program::Phases> ranks;
  for (i64 r = 0; r < p.program.pp(); ++r) ranks.push_back(phases(events(p, r)));
  Seconds at{};
  for (const Band& band : bands(ranks, p.timeline.end)) {
    RC_ASSERT(band.begin == at);
    RC_ASSERT(band.end > band.begin);
    at = band.end;
  }
  RC_ASSERT(at == p.timeline.end);
}

}  // namespace timeline_summary_test
}  // namespace rankwright::planner
