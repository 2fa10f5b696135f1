#include "rankwright/report/timeline/timeline_sentences.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "rankwright/report/timeline/timeline_json.h"
#include "tests/support/golden.h"
#include "tests/support/simulated_steps.h"

namespace rankwright::report {
namespace timeline_sentences_test {

using nlohmann::json;

std::string find_remark(const planner::SimulatedStep& p, std::string_view name) {
  for (const Remark& remark : write_remarks(p, summary(p)))
    if (remark.name == name) return remark.text;
  return "nothing";
}

TEST(TimelineSentences, OneRank_IsAlwaysBusy) {
  const planner::SimulatedStep p = sample::simulate_unit_step({.pp = 1, .microbatches = 3});
  const planner::TimelineSummary s = summary(p);
  EXPECT_DOUBLE_EQ(s.idle, 0);
  EXPECT_EQ(s.longest().pp_rank, 0);
  golden::expect("timeline/limits-one-rank.txt", find_remark(p, "limits") + "\n");
}

TEST(TimelineSentences, NamesTheRankWithMoreWork) {
  planner::SimulatedStep p = sample::four_by_eight();
  for (Seconds& one : p.durations.cells[2]) one = 1.5 * one;
  p = planner::simulate_step(p.shape, p.program, p.durations, "made up");
  EXPECT_EQ(summary(p).longest().pp_rank, 2);
  // Rank 2 works 8 x 4.5 = 36 s, the others 8 x 3 s; the mean is 27 s. For ranks with equal work,
  // see timeline/1f1b-4x8.txt.
  // Which layers it has is not known; with layers, the advice follows what --stages finds.
  planner::TimelineSummary s = summary(p);
  std::string text;
  for (const std::optional<bool> can_move :
       {std::optional<bool>{}, std::optional(true), std::optional(false)}) {
    s.can_move_layers = can_move;
    text += write_remarks(p, s)[3].text + "\n";
  }
  EXPECT_EQ(write_remarks(p, s)[3].name, "limits");
  golden::expect("timeline/limits-slow-rank.txt", text);
  EXPECT_EQ(find_remark(p, "times"), "made up");
}

TEST(TimelineSentences, EmptyStep_DoesNotDivideByZero) {
  planner::SimulatedStep p = sample::simulate_unit_step({.pp = 2, .microbatches = 2});
  p.durations = make_equal_durations(p.program, {}, {}, {});
  p = planner::simulate_step(p.shape, p.program, p.durations);
  EXPECT_EQ(summary(p).idle, 0);
  golden::expect("timeline/title-empty-step.txt", write_timeline_title(p, summary(p)) + "\n");
}

TEST(TimelineJson, AgreesWithTheSummary) {
  const planner::SimulatedStep p = sample::four_by_eight();
  const json all = json::parse(make_timeline_json(p, summary(p), "a \"model\""));
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
  EXPECT_EQ(all["words"]["step"], find_remark(p, "step"));
}

}  // namespace timeline_sentences_test
}  // namespace rankwright::report
