#include "rankwright/report/page/memory_svg.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/parsed_svg.h"
#include "tests/support/reports.h"

namespace rankwright::report {
namespace memory_svg_test {

using parsed_svg::Box;
using ::testing::HasSubstr;

bool is_bar(const Box& box) {
  return box.classes.starts_with("m") && !parsed_svg::is_of(box.classes, "key");
}

/// Returns the course's report on a device of 100 GiB, with 20 GiB of parameters and 30 GiB of
/// activations on each pp rank, and 10 GiB of logits on the last, which is the fullest.
planner::PlanReport make_round_report() {
  planner::PlanReport report = course_report();
  cost::Estimate& e = report.explain_view.estimate;
  e.capacity = 100.0_GiB;
  e.memory_band = {.within = 0.1, .rows = 5};
  for (cost::MemoryEstimate& memory : report.memory_per_pp_rank) {
    memory.entries = {};
    memory[cost::Entry::parameters] = 20.0_GiB;
    memory[cost::Entry::activations] = 30.0_GiB;
  }
  report.memory_per_pp_rank.back()[cost::Entry::logits] = 10.0_GiB;
  e.memory = report.memory_per_pp_rank.back();
  return report;
}

TEST(MemorySvg, StacksItemsUpToTheLimit) {
  const parsed_svg::Picture picture(draw_memory_svg(make_round_report()));
  EXPECT_EQ(picture.fault(), "");
  // From 24 + 62 to 976 - 84 there are 806 pixels for 101 GiB: 7.98 each.
  const std::vector<Box> parameters = picture.rects_of("m0"), activations = picture.rects_of("m1"),
                         logits = picture.rects_of("m2");
  ASSERT_EQ(parameters.size(), 5u);  // including the legend
  ASSERT_EQ(logits.size(), 2u);
  EXPECT_NEAR(parameters[0].left, 86, 0.01);
  EXPECT_NEAR(parameters[0].width(), 20 * 806 / 101.0, 0.02);
  EXPECT_NEAR(activations[0].left, parameters[0].right, 0.02);
  EXPECT_NEAR(logits[0].right, 86 + 60 * 806 / 101.0, 0.02);
  const std::vector<Box> beyond = picture.rects_of("w");
  ASSERT_EQ(beyond.size(), 1u);
  EXPECT_NEAR(beyond[0].left, 86 + 100 * 806 / 101.0, 0.02);
}

TEST(MemorySvg, WritesTotalsAndItems) {
  const parsed_svg::Picture picture(draw_memory_svg(make_round_report()));
  golden::expect("report/memory-svg.txt", picture.list_texts());
  // The totals of three pp ranks; the total of the fourth, and a tick.
  EXPECT_EQ(picture.texts_that_are("50 GiB").size(), 3u);
  EXPECT_EQ(picture.texts_that_are("60 GiB").size(), 2u);
  // A letter in each bar that is wide enough and in the legend, but not under the error range of
  // 54 to 66 GiB.
  EXPECT_EQ(picture.texts_that_are("b").size(), 5u);
  EXPECT_EQ(picture.texts_that_are("c").size(), 1u);
}

TEST(MemorySvg, LeavesOutALimitThatIsTooFarAway) {
  planner::PlanReport report = make_round_report();
  report.explain_view.estimate.capacity = 2000.0_GiB;
  const parsed_svg::Picture picture(draw_memory_svg(report));
  EXPECT_EQ(picture.fault(), "");
  EXPECT_FALSE(picture.root().find_child_by_attribute("line", "class", "l"));
  golden::expect("report/memory-svg-far-limit.txt", picture.list_texts());
  EXPECT_GT(picture.rects_of("m0")[0].width(), 200);
}

TEST(MemorySvg, SampleOfManyPpRanksIncludesTheFullest) {
  planner::PlanReport report = make_round_report();
  const cost::MemoryEstimate one = report.memory_per_pp_rank.front();
  report.config.plan.pp = 300;
  report.config.model.runs.front().count = 600;
  report.config.world = 16 * 300;
  report.config.cluster = *catalog::find_cluster("dgx-h100 x 600");
  report.memory_per_pp_rank.assign(300, one);
  for (i64 r = 0; r < 300; ++r) report.memory_per_pp_rank[std::size_t(r)].pp_rank = r;
  report.memory_per_pp_rank[100][cost::Entry::logits] = 10.0_GiB;
  report.explain_view.estimate.memory = report.memory_per_pp_rank[100];
  const parsed_svg::Picture picture(draw_memory_svg(report));
  EXPECT_EQ(picture.fault(), "");
  // Two items on each of 128 pp ranks; only the fullest has logits.
  EXPECT_EQ(std::count_if(picture.rects.begin(), picture.rects.end(), is_bar), 2 * 128 + 1);
  std::string drawn = picture.list_texts() + "\nbars with logits:\n";
  for (const Box& bar : picture.rects_of("m2"))
    if (is_bar(bar)) drawn += bar.words + "\n";
  golden::expect("report/memory-svg-sample.txt", drawn);
}

TEST(MemorySvg, EscapesAndCutsNames) {
  const std::string svg = draw_memory_svg(hostile_report());
  EXPECT_EQ(parsed_svg::Picture(svg).fault(), "");
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;"));
}

RC_GTEST_PROP(MemorySvg, BarsAddUpToTheTotalOfEachPpRank, ()) {
  const planner::PlanReport report = random_report();
  const std::string svg = draw_memory_svg(report);
  const parsed_svg::Picture picture(svg);
  RC_ASSERT(picture.fault() == "");
  RC_ASSERT(svg.size() < 1'000'000u);
  // The bars of a pp rank are as long as its total, on the scale of the longest.
  std::vector<double> lengths;
  for (const cost::MemoryEstimate& memory : report.memory_per_pp_rank) {
    double length = 0;
    for (const Box& box : picture.rects)
      if (box.words.starts_with(fmt::format("PP rank {}: ", memory.pp_rank))) length += box.width();
    lengths.push_back(length);
  }
  const double scale = lengths[0] / report.memory_per_pp_rank[0].total().value;
  for (std::size_t k = 0; k < lengths.size(); ++k)
    RC_ASSERT(std::abs(lengths[k] - scale * report.memory_per_pp_rank[k].total().value) < 0.5);
}

}  // namespace memory_svg_test
}  // namespace rankwright::report
