#include "rankwright/report/timeline_summary.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "rankwright/report/timeline_json.h"
#include "tests/plays.h"

namespace rankwright {
namespace timeline_summary_test {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

std::string said(const Played& p, std::string_view name) {
  for (const Remark& remark : remarks(p, summary(p)))
    if (remark.name == name) return remark.text;
  return "nothing";
}

TEST(TimelineSummary, MatchesTheWorkedExample) {
  // 8 microbatches through 4 ranks: (8 + 3) x 3 s, of which each rank works 8 x 3 s.
  const TimelineSummary s = summary(sample::four_by_eight());
  EXPECT_EQ(s.cells, 64);
  EXPECT_EQ(s.end, Seconds{33});
  EXPECT_DOUBLE_EQ(s.bubble, 3.0 / 11);
  ASSERT_EQ(s.ranks.size(), 4u);
  for (i64 r = 0; r < 4; ++r) {
    EXPECT_EQ(s.ranks[std::size_t(r)].held, 4 - r);
    EXPECT_EQ(s.ranks[std::size_t(r)].idle, Seconds{9});
  }
  EXPECT_EQ(s.critical[std::size_t(Ink::forward)], Seconds{11});
  EXPECT_EQ(s.critical[std::size_t(Ink::backward)], Seconds{22});
}

TEST(TimelineSummary, OfOneRankIsAllBusy) {
  const Played p = sample::unit_play({.pp = 1, .microbatches = 3});
  const TimelineSummary s = summary(p);
  EXPECT_DOUBLE_EQ(s.bubble, 0);
  EXPECT_EQ(s.longest().pp_rank, 0);
  EXPECT_THAT(said(p, "limits"), Not(HasSubstr("others")));
}

TEST(TimelineSummary, NamesTheHeavierRank) {
  Played p = sample::four_by_eight();
  for (Seconds& one : p.durations.cells[2]) one = 1.5 * one;
  p = played(p.shape, p.program, p.durations, "made up");
  EXPECT_EQ(summary(p).longest().pp_rank, 2);
  // Rank 2 works 8 x 4.5 s, the others 8 x 3 s; the mean is 27 s.
  EXPECT_THAT(said(p, "limits"), HasSubstr("its cells take 36 s, the mean is 27 s"));
  EXPECT_EQ(said(p, "times"), "made up");
  EXPECT_THAT(said(sample::four_by_eight(), "limits"), HasSubstr("no more work than the others"));
}

TEST(TimelineSummary, OfNothingDividesByNothing) {
  Played p = sample::unit_play({.pp = 2, .microbatches = 2});
  p.durations = alike(p.program, {}, {}, {});
  p = played(p.shape, p.program, p.durations);
  EXPECT_EQ(summary(p).bubble, 0);
  EXPECT_THAT(timeline_title(p, summary(p)), HasSubstr("step 0 s · bubble 0 %"));
}

RC_GTEST_PROP(TimelineSummary, CriticalPathIsAsLongAsTheStep, ()) {
  const Played p = sample::random_play();
  const TimelineSummary s = summary(p);
  Seconds by_rank = s.travelled, by_ink = s.travelled;
  for (const RankSummary& rank : s.ranks) by_rank += rank.critical;
  for (const Seconds one : s.critical) by_ink += one;
  RC_ASSERT(std::abs((by_rank - s.end).value) < 1e-9);
  RC_ASSERT(std::abs((by_ink - s.end).value) < 1e-9);
  RC_ASSERT(s.path.front().begin == Seconds{});
  for (std::size_t i = 1; i < s.path.size(); ++i) {
    RC_ASSERT(s.path[i].pp_rank != s.path[i - 1].pp_rank);
    RC_ASSERT(s.path[i].begin >= s.path[i - 1].end - 1e-9 * Seconds{1});
  }
}

/// No slack: what a link waits for ended just then, or was on its way from another rank.
RC_GTEST_PROP(TimelineSummary, CriticalPathHasNoGaps, ()) {
  const Played p = sample::random_play();
  i64 before = -1;
  for (const CriticalLink& link : critical_path(p.program, p.durations, p.timeline)) {
    RC_ASSERT(link.travelled.value > -1e-9);
    Seconds longest{};
    for (const Seconds one : p.durations.activation) longest = std::max(longest, one);
    for (const Seconds one : p.durations.gradient) longest = std::max(longest, one);
    if (before == link.pp_rank) longest = {};
    RC_ASSERT(link.travelled.value < longest.value + 1e-9);
    before = link.pp_rank;
  }
}

RC_GTEST_PROP(TimelineSummary, TimeOfARankIsWorkOrIdle, ()) {
  const Played p = sample::random_play();
  const TimelineSummary s = summary(p);
  Seconds idle{};
  for (const RankSummary& rank : s.ranks) {
    RC_ASSERT(std::abs((rank.cells + rank.steps + rank.idle - s.end).value) < 1e-9);
    RC_ASSERT(rank.held <= most_in_flight(p.shape, rank.pp_rank));
    idle += rank.idle;
  }
  RC_ASSERT(std::abs(s.bubble - idle / (double(s.ranks.size()) * s.end)) < 1e-9);
}

TEST(TimelineJson, SaysWhatTheSummarySays) {
  const Played p = sample::four_by_eight();
  const json all = json::parse(timeline_json(p, summary(p), "a \"model\""));
  EXPECT_EQ(all["schema"], "rankwright.timeline/1");
  EXPECT_EQ(all["headline"], "a \"model\"");
  EXPECT_EQ(all["schedule"], "1f1b");
  EXPECT_EQ(all["cells"], 64);
  EXPECT_EQ(all["step_seconds"], 33.0);
  EXPECT_EQ(all["phases"][1]["phase"], "steady");
  EXPECT_EQ(all["phases"][1]["begin_seconds"], 10.0);
  ASSERT_EQ(all["ranks"].size(), 4u);
  EXPECT_EQ(all["ranks"][1]["stage_activations_held"], 3);
  EXPECT_EQ(all["critical_path"]["seconds_by_kind"]["backward"], 22.0);
  EXPECT_EQ(all["words"]["step"], "33 s: warm-up 10 s, steady 12 s, drain 11 s");
}

}  // namespace timeline_summary_test
}  // namespace rankwright
