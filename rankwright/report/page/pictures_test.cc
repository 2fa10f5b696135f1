#include "rankwright/report/page/pictures.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "rankwright/report/render/labels.h"
#include "tests/support/parsed_svg.h"
#include "tests/support/reports.h"

namespace rankwright::report {
namespace pictures_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> names(const planner::PlanReport& report) {
  std::vector<std::string> all;
  for (const rankwright::report::Picture& picture : draw_pictures(report))
    all.emplace_back(picture.name);
  return all;
}

TEST(Pictures, AreInTheOrderOfThePage) {
  planner::PlanReport report = course_report();
  EXPECT_THAT(names(report), ElementsAre("cluster", "step", "memory", "timeline", "communication"));
  report.search = planner::PlanAnswer{.problem = search::make_problem(report.config)};
  EXPECT_THAT(names(report),
              ElementsAre("cluster", "step", "memory", "timeline", "communication", "why-not"));
}

TEST(Pictures, OmitPicturesThatCannotBeDrawn) {
  planner::PlanReport report =
      report_of("{world_size: 64, parallelism: {tp_size: 8, pp_size: 4, dp_size: 2}}");
  EXPECT_THAT(names(report), ElementsAre("cluster", "step", "memory", "timeline", "communication"));
  report.step.reset();
  EXPECT_THAT(names(report), ElementsAre("cluster", "step", "memory", "communication"));
}

TEST(Pictures, AreSelfContainedForLightAndDarkPages) {
  const planner::PlanReport report = course_report();
  const std::vector<rankwright::report::Picture> pictures = draw_pictures(report);
  ASSERT_EQ(pictures.size(), 5u);
  for (const rankwright::report::Picture& picture : pictures) {
    EXPECT_THAT(picture.svg, HasSubstr("@media (prefers-color-scheme:dark)")) << picture.name;
    EXPECT_THAT(picture.svg, HasSubstr(format_headline(report.config))) << picture.name;
    // The only address is the name of the format.
    EXPECT_EQ(picture.svg.find("http", picture.svg.find("http") + 1), std::string::npos);
    EXPECT_THAT(picture.svg, Not(HasSubstr("href")));
  }
}

TEST(Pictures, AreDeterministic) {
  const std::vector<rankwright::report::Picture> first = draw_pictures(course_report()),
                                                 second = draw_pictures(course_report());
  ASSERT_EQ(first.size(), 5u);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t k = 0; k < first.size(); ++k) EXPECT_EQ(first[k].svg, second[k].svg);
}

}  // namespace pictures_test
}  // namespace rankwright::report
