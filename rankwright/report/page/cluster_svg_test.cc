#include "rankwright/report/page/cluster_svg.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/parsed_svg.h"
#include "tests/support/reports.h"

namespace rankwright::report {
namespace cluster_svg_test {

using parsed_svg::Box;
using ::testing::HasSubstr;

/// Returns which box of a drawn domain extends beyond it or overlaps another box; empty if none
/// does. A domain is an SVG group with its own box first.
std::string find_misplaced(const pugi::xml_node& domain) {
  const Box own = parsed_svg::box_of(domain.child("rect"));
  std::vector<Box> inside;
  for (const pugi::xml_node& part : domain.children()) {
    if (part == domain.child("rect")) continue;
    if (std::string(part.name()) == "rect") inside.push_back(parsed_svg::box_of(part));
    if (std::string(part.name()) != "g") continue;
    inside.push_back(parsed_svg::box_of(part.child("rect")));
    if (std::string wrong = find_misplaced(part); !wrong.empty()) return wrong;
  }
  for (std::size_t k = 0; k < inside.size(); ++k) {
    if (!inside[k].inside(own)) return inside[k].words + " leaves " + own.words;
    for (std::size_t other = 0; other < k; ++other)
      if (inside[k].overlaps(inside[other])) return inside[k].words + " lies on another";
  }
  return {};
}

TEST(ClusterSvg, DrawsEveryRankOnceInTheColorOfItsStage) {
  const parsed_svg::Picture picture(draw_cluster_svg(course_report()));
  EXPECT_EQ(picture.fault(), "");
  for (int rank = 0; rank < 64; ++rank)
    EXPECT_EQ(picture.texts_that_are(std::to_string(rank)).size(), 1u) << rank;
  // 16 ranks of each stage, and the legend.
  for (const char* color : {"c0", "c1", "c2", "c3"})
    EXPECT_EQ(picture.rects_of(color).size(), 17u) << color;
  EXPECT_EQ(picture.texts_that_are("pp 3").size(), 3u);  // above two nodes, and in the legend
}

TEST(ClusterSvg, ListsWhereGroupsArePlaced) {
  // 64 ranks: 8 groups of tp 8 inside a node, 16 of pp 4 and 32 of dp 2 across nodes.
  const parsed_svg::Picture picture(draw_cluster_svg(course_report()));
  std::string labels;  // all texts but the numbers of ranks
  for (const Box& text : picture.texts)
    if (text.words.find_first_not_of("0123456789") != std::string::npos)
      labels += text.words + "\n";
  golden::expect("report/cluster-svg.txt", labels);
}

TEST(ClusterSvg, FoldsEqualDomainsAndCountsThem) {
  const planner::PlanReport report = report_of(
      "{model: llama-3.1-405b, cluster: dgx-h100 x 2048, parallelism: {tp_size: 8, pp_size: 16, "
      "dp_size: 128}, job: {global_batch: 2048}}");
  const parsed_svg::Picture picture(draw_cluster_svg(report));
  EXPECT_EQ(picture.fault(), "");
  EXPECT_EQ(picture.texts_that_are("x 128").size(), 16u);
  EXPECT_EQ(picture.texts_that_are("nvlink 1,920").size(), 1u);
}

TEST(ClusterSvg, LinksEveryDomainToTheBarAboveIt) {
  const std::string svg = draw_cluster_svg(course_report());
  const parsed_svg::Picture picture(svg);
  const pugi::xml_node root = picture.root().child("g");
  std::size_t hanging = 0;
  for (const pugi::xml_node& domain : root.children("g")) {
    const Box box = parsed_svg::box_of(domain.child("rect"));
    for (const pugi::xml_node& line : root.children("line"))
      hanging += line.attribute("y2").as_double() == box.top &&
                 line.attribute("x2").as_double() > box.left &&
                 line.attribute("x2").as_double() < box.right;
  }
  EXPECT_EQ(hanging, 8u);
}

TEST(ClusterSvg, ShowsIdleDevices) {
  const parsed_svg::Picture picture(
      draw_cluster_svg(report_of("{world_size: 1, cluster: dgx-h100}")));
  EXPECT_EQ(picture.fault(), "");
  EXPECT_EQ(picture.rects_of("i").size(), 8u);  // seven, and the legend
}

TEST(ClusterSvg, EscapesAndCutsNames) {
  const std::string svg = draw_cluster_svg(hostile_report());
  EXPECT_EQ(parsed_svg::Picture(svg).fault(), "");
  EXPECT_THAT(svg, HasSubstr("&lt;/text&gt;&lt;script&gt;"));
}

RC_GTEST_PROP(ClusterSvg, KeepsBoxesInsideTheirDomainAndTextsApart, ()) {
  const planner::PlanReport report = random_report();
  const std::string svg = draw_cluster_svg(report);
  const parsed_svg::Picture picture(svg);
  RC_ASSERT(picture.fault() == "");
  RC_ASSERT(find_misplaced(picture.root().child("g")) == "");
  RC_ASSERT(svg.size() < 1'000'000u);
  RC_ASSERT(svg == draw_cluster_svg(report));
}

}  // namespace cluster_svg_test
}  // namespace rankwright::report
