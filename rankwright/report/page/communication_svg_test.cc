#include "rankwright/report/page/communication_svg.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/parsed_svg.h"
#include "tests/support/reports.h"

namespace rankwright::report {
namespace communication_svg_test {

using parsed_svg::Box;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(CommunicationSvg, PutsEveryCollectiveInTheColumnOfItsLevel) {
  planner::PlanReport report = course_report();
  report.explain_view.communication.resize(1);
  cost::TrafficCost& gather = report.explain_view.communication[0].evaluated;
  ASSERT_EQ(gather.traffic.kind, plan::TrafficKind::tp_all_gather);
  gather.traffic.calls = 3840;
  gather.traffic.total = 258.0_GB;
  gather.total = 0.854_s;
  gather.sharers = 2;
  const parsed_svg::Picture picture(draw_communication_svg(report));
  EXPECT_EQ(picture.fault(), "");
  // Two columns of (952 - 212) / 2 = 370 pixels, 4 apart, starting at 24 + 212.
  const std::vector<Box> cells = picture.rects_of("hot");
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0].left, 236);
  EXPECT_EQ(cells[0].width(), 366);
  golden::expect("report/communication-svg.txt", picture.list_texts());
}

TEST(CommunicationSvg, LongestCollectiveIsDarkest) {
  planner::PlanReport report = course_report();
  report.explain_view.communication.resize(2);
  report.explain_view.communication[0].evaluated.total = 4.0_s;
  report.explain_view.communication[1].evaluated.total = 0.64_s;
  const std::string svg = draw_communication_svg(report);
  // 0.05 + 0.55 x the square root of the share of the longest: 0.05 + 0.55 x 0.4.
  EXPECT_THAT(svg, HasSubstr("class=\"hot\" fill-opacity=\"0.60\""));
  EXPECT_THAT(svg, HasSubstr("class=\"hot\" fill-opacity=\"0.27\""));
}

TEST(CommunicationSvg, SaysHowManyRanksAreInsideInnerLevels) {
  // dp 16 as 8 ranks per node on 2 nodes.
  const parsed_svg::Picture picture(draw_communication_svg(
      report_of("{model: llama-3.1-8b, cluster: dgx-h100 x 2, parallelism: {dp_size: 16}}")));
  golden::expect("report/communication-svg-two-nodes.txt", picture.list_texts());
}

TEST(CommunicationSvg, OneRank_SaysThatNothingIsSent) {
  const parsed_svg::Picture picture(
      draw_communication_svg(report_of("{world_size: 1, cluster: dgx-h100 x 1}")));
  EXPECT_EQ(picture.fault(), "");
  EXPECT_TRUE(picture.rects_of("hot").empty());
  golden::expect("report/communication-svg-one-rank.txt", picture.list_texts());
}

TEST(CommunicationSvg, HasRoomForTheMaximumNumberOfLevels) {
  planner::PlanReport report = course_report();
  rankwright::plan::TrainingConfig config = report.config;
  const cluster::Level outermost = config.cluster.levels.back();
  while (config.cluster.levels.size() < cluster::kMaxLevels) {
    config.cluster.levels.push_back(outermost);
    config.cluster.levels.back().arity = 1;
    config.cluster.levels.back().oversubscription = 16;
  }
  const parsed_svg::Picture picture(
      draw_communication_svg(planner::build_plan_report("plan.yaml", config, {})));
  EXPECT_EQ(picture.fault(), "");
  ASSERT_FALSE(picture.texts.empty());
  for (const Box& text : picture.texts) EXPECT_THAT(text.words, Not(HasSubstr("…")));
}

TEST(CommunicationSvg, EscapesAndCutsNames) {
  const std::string svg = draw_communication_svg(hostile_report());
  EXPECT_EQ(parsed_svg::Picture(svg).fault(), "");
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;"));
}

RC_GTEST_PROP(CommunicationSvg, HasOneCellPerCollective, ()) {
  const planner::PlanReport report = random_report();
  const std::string svg = draw_communication_svg(report);
  const parsed_svg::Picture picture(svg);
  RC_ASSERT(picture.fault() == "");
  RC_ASSERT(svg.size() < 1'000'000u);
  std::size_t crossing = 0;
  for (const planner::CommunicationRow& row : report.explain_view.communication)
    crossing += row.evaluated.level >= 0;
  RC_ASSERT(picture.rects_of("hot").size() == crossing);
}

}  // namespace communication_svg_test
}  // namespace rankwright::report
