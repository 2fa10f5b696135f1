#include "rankwright/report/page/why_not_svg.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "tests/support/parsed_svg.h"
#include "tests/support/reports.h"

namespace rankwright::report {
namespace why_not_svg_test {

using Role = PlanPoint::Role;
using ::testing::HasSubstr;
using ::testing::Not;

/// A report and the points that are drawn of it.
struct Drawing {
  planner::PlanReport report;
  PlanPoints shown{};

  std::string svg() const { return why_not_svg(report, shown); }
};

/// The course's on a device of 80 GiB with these points, of which the second is what would be run.
Drawing drawing_of(std::vector<PlanPoint> points, const planner::PlanReport& base) {
  planner::PlanReport report = base;
  report.sheet.estimate.capacity = 80.0_GiB;
  report.search = planner::PlanAnswer{.problem = search::problem(report.config)};
  for (std::size_t k = 0; k < points.size(); ++k) {
    points[k].config.plan.micro_batch = i64(k) + 1;  // each is another plan
    if (points[k].role == Role::best && !report.search->answer.best)
      report.search->answer.best =
          search::Priced{.config = points[k].config, .estimate = report.sheet.estimate};
  }
  report.search->answer.band = 0.05;
  return {std::move(report), {std::move(points), {}}};
}

PlanPoint point(const planner::PlanReport& of, Role role, Seconds time, Bytes memory) {
  return {.role = role,
          .change = role == Role::neighbour ? "tp 4" : "",
          .config = of.config,
          .time = time,
          .memory = memory,
          .fits = memory <= 80.0_GiB};
}

/// Where the shapes of a class are, but those of the legend, which are written last.
std::vector<std::pair<double, double>> marks(const drawn::Picture& picture,
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

TEST(WhyNotSvg, PutsMemoryToTheRightAndTimeUpwards) {
  const planner::PlanReport course = course_report();
  const Seconds now = course.time();
  const Drawing drawing = drawing_of(
      {point(course, Role::itself, now, 60.0_GiB), point(course, Role::best, now / 2, 70.0_GiB)},
      course);
  const drawn::Picture picture(drawing.svg());
  EXPECT_EQ(picture.fault(), "");
  // Memory from 60 to 80 GiB with 7 % of 20 at both ends, from 24 + 64 = 88 to 952: a GiB is 864 /
  // 22.8 = 37.89 pixels. Time from one half to one of this plan's, with 7 % of one half.
  const auto itself = marks(picture, "r5 z"), best = marks(picture, "r4 z");
  ASSERT_EQ(itself.size(), 1u);
  ASSERT_EQ(best.size(), 1u);
  EXPECT_NEAR(itself[0].first, 88 + 1.4 * 864 / 22.8, 0.02);
  EXPECT_NEAR(best[0].first, 88 + 11.4 * 864 / 22.8, 0.02);
  EXPECT_NEAR(best[0].second - itself[0].second, 430 / 1.14, 0.02);
  const std::vector<drawn::Box> unfit = picture.rects_of("w");
  ASSERT_EQ(unfit.size(), 2u);  // with the key
  EXPECT_NEAR(unfit[0].left, 88 + 21.4 * 864 / 22.8, 0.02);
}

TEST(WhyNotSvg, JoinsThePlansThatNoneBeats) {
  const planner::PlanReport course = course_report();
  // The third takes more of both than the second, the fourth does not fit.
  const Drawing drawing = drawing_of(
      {point(course, Role::itself, 8.0_s, 40.0_GiB), point(course, Role::best, 4.0_s, 60.0_GiB),
       point(course, Role::neighbour, 5.0_s, 70.0_GiB),
       point(course, Role::neighbour, 2.0_s, 90.0_GiB)},
      course);
  const drawn::Picture picture(drawing.svg());
  const auto itself = marks(picture, "r5 z")[0], best = marks(picture, "r4 z")[0];
  const std::string front =
      picture.root().find_child_by_attribute("path", "class", "front").attribute("d").value();
  EXPECT_EQ(front, "M" + svg::px(itself.first) + " " + svg::px(itself.second) + "H" +
                       svg::px(best.first) + "V" + svg::px(best.second));
}

TEST(WhyNotSvg, LabelsThisPlanAndTheBestEvenInACrowd) {
  const planner::PlanReport course = course_report();
  std::vector<PlanPoint> points{point(course, Role::itself, 5.0_s, 60.0_GiB),
                                point(course, Role::best, 4.9_s, 60.5_GiB)};
  for (int k = 0; k < 60; ++k)
    points.push_back(
        point(course, Role::neighbour, (5 + 0.01 * k) * 1.0_s, (60 + 0.05 * (k % 7)) * 1.0_GiB));
  const drawn::Picture picture(drawing_of(points, course).svg());
  EXPECT_EQ(picture.fault(), "");
  EXPECT_EQ(picture.texts_that_are("this plan, 5 s").size(), 1u);
  EXPECT_EQ(picture.texts_that_are("best, 4.9 s").size(), 1u);
  EXPECT_LT(picture.texts_that_are("tp 4").size(), 60u);
}

TEST(WhyNotSvg, SaysWhatCannotBeMade) {
  const planner::PlanReport course = course_report();
  Drawing drawing = drawing_of({point(course, Role::itself, 5.0_s, 60.0_GiB)}, course);
  EXPECT_THAT(drawing.svg(), Not(HasSubstr("cannot be made")));
  drawing.shown.refused = {{.change = "tp 3"}, {.change = "<pp 5>"}};
  const drawn::Picture picture(drawing.svg());
  EXPECT_EQ(picture.fault(), "");
  EXPECT_EQ(picture.texts_that_are("tp 3, <pp 5>").size(), 1u);
}

TEST(WhyNotSvg, EscapesAndCutsNames) {
  const planner::PlanReport hostile = hostile_report();
  const std::string svg =
      drawing_of({point(hostile, Role::itself, 5.0_s, 60.0_GiB)}, hostile).svg();
  EXPECT_EQ(drawn::Picture(svg).fault(), "");
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;"));
}

RC_GTEST_PROP(WhyNotSvg, DrawsEveryPointAndKeepsWordsApart, ()) {
  static const planner::PlanReport course = course_report();
  std::vector<PlanPoint> points;
  const int many = *rc::gen::inRange(1, 80);
  for (int k = 0; k < many; ++k)
    points.push_back(point(course, k == 0 ? Role::itself : Role(*rc::gen::inRange(1, 6)),
                           double(*rc::gen::inRange(1, 400)) / 20 * 1.0_s,
                           double(*rc::gen::inRange(1, 3000)) / 20 * 1.0_GiB));
  const Drawing drawing = drawing_of(points, course);
  const std::string svg = drawing.svg();
  const drawn::Picture picture(svg);
  RC_ASSERT(picture.fault() == "");
  RC_ASSERT(svg.size() < 1'000'000u);
  std::size_t drawn_points = 0;
  for (int k = 0; k < 6; ++k) drawn_points += marks(picture, fmt::format("r{} z", k)).size();
  RC_ASSERT(drawn_points == points.size());
  RC_ASSERT(svg == drawing.svg());
}

}  // namespace why_not_svg_test
}  // namespace rankwright::report
