#include "rankwright/report/page/why_not_svg.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/parsed_svg.h"
#include "tests/support/reports.h"

namespace rankwright::report {
namespace why_not_svg_test {

using Role = PlanPoint::Role;
using ::testing::HasSubstr;

/// A report and the points that are drawn.
struct Drawing {
  planner::PlanReport report;
  PlanPoints shown{};

  std::string svg() const { return draw_why_not_svg(report, shown); }
};

/// Returns the course's report on a device of 80 GiB with these points. The first point with role
/// `best` becomes the search's best plan.
Drawing make_drawing(std::vector<PlanPoint> points, const planner::PlanReport& base) {
  planner::PlanReport report = base;
  report.explain_view.estimate.capacity = 80.0_GiB;
  report.search = planner::PlanAnswer{.problem = search::make_problem(report.config)};
  for (std::size_t k = 0; k < points.size(); ++k) {
    points[k].config.plan.micro_batch = i64(k) + 1;  // makes the plans distinct
    if (points[k].role == Role::best && !report.search->answer.best)
      report.search->answer.best = search::EvaluatedPlan{.config = points[k].config,
                                                         .estimate = report.explain_view.estimate};
  }
  report.search->answer.band = 0.05;
  return {std::move(report), {std::move(points), {}}};
}

PlanPoint make_point(const planner::PlanReport& of, Role role, Seconds time, Bytes memory) {
  return {.role = role,
          .change = role == Role::neighbour ? "tp 4" : "",
          .config = of.config,
          .time = time,
          .memory = memory,
          .fits = memory <= 80.0_GiB};
}

/// Returns the positions of the markers of a class, without the legend's.
std::vector<std::pair<double, double>> find_markers(const parsed_svg::Picture& picture,
                                                    const std::string& classes) {
  std::vector<std::pair<double, double>> all;
  for (const pugi::xml_node& path : picture.root().children("path")) {
    double x = 0, y = 0;
    if (!path.child("title") || path.attribute("class").value() != classes) continue;
    if (std::sscanf(path.attribute("transform").value(), "translate(%lf %lf)", &x, &y) == 2)
      all.emplace_back(x, y);
  }
  return all;
}

TEST(WhyNotSvg, MemoryGrowsRightwardsAndTimeUpwards) {
  const planner::PlanReport course = course_report();
  const Seconds now = course.time();
  const Drawing drawing = make_drawing({make_point(course, Role::itself, now, 60.0_GiB),
                                        make_point(course, Role::best, now / 2, 70.0_GiB)},
                                       course);
  const parsed_svg::Picture picture(drawing.svg());
  EXPECT_EQ(picture.fault(), "");
  // Memory from 60 to 80 GiB with 7 % of 20 at both ends, from 24 + 64 = 88 to 952: one GiB is
  // 864 / 22.8 = 37.89 pixels. Time from half of this plan's to all of it, with 7 % of a half at
  // both ends.
  const auto itself = find_markers(picture, "r5 z"), best = find_markers(picture, "r4 z");
  ASSERT_EQ(itself.size(), 1u);
  ASSERT_EQ(best.size(), 1u);
  EXPECT_NEAR(itself[0].first, 88 + 1.4 * 864 / 22.8, 0.02);
  EXPECT_NEAR(best[0].first, 88 + 11.4 * 864 / 22.8, 0.02);
  EXPECT_NEAR(best[0].second - itself[0].second, 430 / 1.14, 0.02);
  const std::vector<parsed_svg::Box> unfit = picture.rects_of("w");
  ASSERT_EQ(unfit.size(), 2u);  // including the legend
  EXPECT_NEAR(unfit[0].left, 88 + 21.4 * 864 / 22.8, 0.02);
}

TEST(WhyNotSvg, JoinsThePlansOfTheParetoFront) {
  const planner::PlanReport course = course_report();
  // The third needs more time and memory than the second; the fourth does not fit.
  const Drawing drawing = make_drawing({make_point(course, Role::itself, 8.0_s, 40.0_GiB),
                                        make_point(course, Role::best, 4.0_s, 60.0_GiB),
                                        make_point(course, Role::neighbour, 5.0_s, 70.0_GiB),
                                        make_point(course, Role::neighbour, 2.0_s, 90.0_GiB)},
                                       course);
  const parsed_svg::Picture picture(drawing.svg());
  const auto itself = find_markers(picture, "r5 z")[0], best = find_markers(picture, "r4 z")[0];
  const std::string front =
      picture.root().find_child_by_attribute("path", "class", "front").attribute("d").value();
  EXPECT_EQ(front, "M" + svg::px(itself.first) + " " + svg::px(itself.second) + "H" +
                       svg::px(best.first) + "V" + svg::px(best.second));
}

TEST(WhyNotSvg, LabelsThisPlanAndTheBestAmongManyPoints) {
  const planner::PlanReport course = course_report();
  std::vector<PlanPoint> points{make_point(course, Role::itself, 5.0_s, 60.0_GiB),
                                make_point(course, Role::best, 4.9_s, 60.5_GiB)};
  for (int k = 0; k < 60; ++k)
    points.push_back(make_point(course, Role::neighbour, (5 + 0.01 * k) * 1.0_s,
                                (60 + 0.05 * (k % 7)) * 1.0_GiB));
  const parsed_svg::Picture picture(make_drawing(points, course).svg());
  EXPECT_EQ(picture.fault(), "");
  // There is no room for the labels of all 60 neighbors. This plan (5 s) and the best (4.9 s) have
  // theirs.
  golden::expect("report/why-not-svg.txt", picture.list_texts());
  EXPECT_LT(picture.texts_that_are("tp 4").size(), 60u);
}

TEST(WhyNotSvg, ListsRefusedChanges) {
  const planner::PlanReport course = course_report();
  Drawing drawing = make_drawing({make_point(course, Role::itself, 5.0_s, 60.0_GiB)}, course);
  const std::string without = parsed_svg::Picture(drawing.svg()).list_texts();
  drawing.shown.refused = {{.change = "tp 3"}, {.change = "<pp 5>"}};
  const parsed_svg::Picture picture(drawing.svg());
  EXPECT_EQ(picture.fault(), "");
  EXPECT_EQ(picture.texts_that_are("tp 3, <pp 5>").size(), 1u);
  golden::expect("report/why-not-svg-refused.txt",
                 "none refused:\n" + without + "\ntwo refused:\n" + picture.list_texts());
}

TEST(WhyNotSvg, EscapesAndCutsNames) {
  const planner::PlanReport hostile = hostile_report();
  const std::string svg =
      make_drawing({make_point(hostile, Role::itself, 5.0_s, 60.0_GiB)}, hostile).svg();
  EXPECT_EQ(parsed_svg::Picture(svg).fault(), "");
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;"));
}

RC_GTEST_PROP(WhyNotSvg, DrawsEveryPointAndKeepsTextsApart, ()) {
  static const planner::PlanReport course = course_report();
  std::vector<PlanPoint> points;
  const int many = *rc::gen::inRange(1, 80);
  for (int k = 0; k < many; ++k)
    points.push_back(make_point(course, k == 0 ? Role::itself : Role(*rc::gen::inRange(1, 6)),
                                double(*rc::gen::inRange(1, 400)) / 20 * 1.0_s,
                                double(*rc::gen::inRange(1, 3000)) / 20 * 1.0_GiB));
  const Drawing drawing = make_drawing(points, course);
  const std::string svg = drawing.svg();
  const parsed_svg::Picture picture(svg);
  RC_ASSERT(picture.fault() == "");
  RC_ASSERT(svg.size() < 1'000'000u);
  std::size_t drawn_points = 0;
  for (int k = 0; k < 6; ++k) drawn_points += find_markers(picture, fmt::format("r{} z", k)).size();
  RC_ASSERT(drawn_points == points.size());
  RC_ASSERT(svg == drawing.svg());
}

}  // namespace why_not_svg_test
}  // namespace rankwright::report
