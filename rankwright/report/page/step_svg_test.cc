#include "rankwright/report/page/step_svg.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/parsed_svg.h"
#include "tests/support/reports.h"

namespace rankwright::report {
namespace step_svg_test {

using parsed_svg::Box;
using ::testing::HasSubstr;

/// Returns the bars of the items from the top down, or those of the whole step from left to right.
std::vector<Box> find_bars(const parsed_svg::Picture& picture, bool of_the_step) {
  std::vector<Box> all;
  for (const Box& box : picture.rects)
    if (box.classes.starts_with("f") && !parsed_svg::is_of(box.classes, "key") &&
        parsed_svg::is_of(box.classes, "sum") == of_the_step)
      all.push_back(box);
  return all;
}

planner::PlanReport make_ten_second_report() {
  planner::PlanReport report = course_report();
  cost::Estimate& e = report.explain_view.estimate;
  e.step.items = {};
  e.step[cost::Item::matmul] = 6.0_s;
  e.step[cost::Item::tp] = 2.0_s;
  e.step[cost::Item::bubble] = 2.0_s;
  e.step_band = {.within = 0.1, .rows = 7};
  report.explain_view.waterfall =
      make_waterfall(report.config, report.explain_view.communication, e);
  return report;
}

TEST(StepSvg, EachBarStartsWhereThePreviousOneEnds) {
  const parsed_svg::Picture picture(draw_step_svg(make_ten_second_report()));
  EXPECT_EQ(picture.fault(), "");
  // From 24 + 140 to 976 - 150 there are 662 pixels for 10 s and the error of 1 s: 60.18 per
  // second.
  const std::vector<Box> all = find_bars(picture, false);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_NEAR(all[0].left, 164, 0.01);
  EXPECT_NEAR(all[0].right, 164 + 6 * 662 / 11.0, 0.02);
  EXPECT_NEAR(all[1].left, 525.09, 0.01);
  EXPECT_NEAR(all[1].width(), 120.36, 0.01);
  EXPECT_NEAR(all[2].right, 164 + 10 * 662 / 11.0, 0.02);
  EXPECT_LT(all[0].bottom, all[1].top);
}

TEST(StepSvg, WritesNameTimeShareAndLevel) {
  const parsed_svg::Picture picture(draw_step_svg(make_ten_second_report()));
  // 6, 2 and 2 of 10 s: 60, 20 and 20 %.
  golden::expect("report/step-svg.txt", picture.list_texts());
  // An item, the step, two items; and one tick for each.
  EXPECT_EQ(picture.texts_that_are("6 s").size(), 2u);
  EXPECT_EQ(picture.texts_that_are("10 s").size(), 2u);
  EXPECT_EQ(picture.texts_that_are("2 s").size(), 3u);
}

TEST(StepSvg, ColorsComputingAndWaitingItemsDifferently) {
  const parsed_svg::Picture picture(draw_step_svg(make_ten_second_report()));
  const std::vector<Box> all = find_bars(picture, false);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].classes, "f0");
  EXPECT_EQ(all[1].classes, "f2");
  EXPECT_EQ(all[2].classes, "f3");
}

TEST(StepSvg, EscapesAndCutsNames) {
  const std::string svg = draw_step_svg(hostile_report());
  EXPECT_EQ(parsed_svg::Picture(svg).fault(), "");
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;"));
}

RC_GTEST_PROP(StepSvg, AddsUpToTheStep, ()) {
  const planner::PlanReport report = random_report();
  const std::string svg = draw_step_svg(report);
  const parsed_svg::Picture picture(svg);
  RC_ASSERT(picture.fault() == "");
  RC_ASSERT(svg.size() < 1'000'000u);
  const std::vector<Box> all = find_bars(picture, false), sums = find_bars(picture, true);
  RC_ASSERT(all.size() == report.explain_view.waterfall.bars.size());
  for (std::size_t k = 1; k < all.size(); ++k)
    RC_ASSERT(std::abs(all[k].left - all[k - 1].right) < 0.02);
  RC_ASSERT(std::abs(all.back().right - sums.back().right) < 0.02);
  RC_ASSERT(all.front().left == sums.front().left);
}

}  // namespace step_svg_test
}  // namespace rankwright::report
