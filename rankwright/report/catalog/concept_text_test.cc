#include "rankwright/report/catalog/concept_text.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "rankwright/report/catalog/collective_svg.h"
#include "rankwright/report/render/table.h"
#include "tests/support/golden.h"
#include "tests/support/parsed_svg.h"

namespace rankwright::report {
namespace concept_text_test {

using nlohmann::json;
using ::testing::HasSubstr;

TEST(ConceptText, EveryPage_MatchesGolden) {
  for (const planner::ConceptPage& page : planner::concept_pages())
    golden::expect("concept/" + std::string(page.typed) + ".txt",
                   render_concept_text(page, {}, 80));
}

TEST(DrawCollective, Drawing_FitsItsWidth) {
  for (const planner::CollectiveRow& of : planner::collectives())
    for (const std::size_t width : {std::size_t{60}, std::size_t{80}, std::size_t{120}})
      for (const std::string& line : golden::lines(draw_collective(of.collective, width)))
        EXPECT_LE(display_width(line), width) << of.name;
  // A row of four sums is 49 wide: beside the 13 of the input only from 78 columns on.
  EXPECT_THAT(draw_collective(planner::Collective::all_reduce, 78), HasSubstr("->"));
  EXPECT_EQ(draw_collective(planner::Collective::all_reduce, 77).find("->"), std::string::npos);
}

TEST(ConceptJson, Collective_HasBuffersAndFigures) {
  const json page = json::parse(make_concept_json(*planner::find_concept("all-to-all")));
  EXPECT_EQ(page["schema"], "rankwright.concept/1");
  ASSERT_EQ(page["collective"]["before"].size(), 4u);
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t k = 0; k < 4; ++k)
      EXPECT_EQ(page["collective"]["after"][r][k], page["collective"]["before"][k][r]);
  EXPECT_EQ(page["collective"]["figures"][1]["sent_per_byte"], 0.75);  // 3/4
}

TEST(ConceptJson, Axis_HasItsLinesAndNoCollective) {
  const json page = json::parse(make_concept_json(*planner::find_concept("tp")));
  EXPECT_EQ(page["concept"], "tensor parallelism");
  EXPECT_FALSE(page.contains("collective"));
  EXPECT_FALSE(page.contains("plan"));
  EXPECT_EQ(page["lines"]["link"], planner::find_concept("tp")->link);
}

TEST(ConceptJson, Plan_HasFactsWithValues) {
  const planner::Outcome<planner::ConceptAnswer> answer = planner::explain_concept(
      "tp", {.plan = {"plan.yaml",
                      "model: llama-3.2-1b\ncluster: dgx-h100 x 1\n"
                      "parallelism: {tp_size: 2, pp_size: 2, dp_size: 2}\n"}});
  ASSERT_TRUE(answer.has_value());
  const json page = json::parse(make_concept_json(*answer));
  ASSERT_EQ(page["plan"]["facts"].size(), answer->facts.facts.size());
  ASSERT_FALSE(page["plan"]["communication"].empty());
  for (const json& row : page["plan"]["communication"])
    EXPECT_NEAR(row["exposed_seconds"].get<double>() + row["overlapped_seconds"].get<double>(),
                row["seconds"].get<double>(), 1e-12);
}

TEST(CollectiveSvg, EveryPicture_IsWellFormedAndShowsEverySlot) {
  for (const planner::ConceptPage& page : planner::collective_pages()) {
    const parsed_svg::Picture picture(draw_collective_svg(page));
    EXPECT_EQ(picture.fault(), "") << page.term;
    const planner::Buffers input = make_input(*page.collective, 4);
    for (const planner::Buffers& side : {input, apply_collective(*page.collective, input)})
      for (const planner::Buffer& buffer : side)
        for (const planner::Slot& slot : buffer)
          EXPECT_TRUE(slot.empty() || !picture.texts_that_are(planner::format_slot(slot)).empty());
  }
}

TEST(CollectiveSvg, Labels_AreInsideTheirCells) {
  const parsed_svg::Picture picture(draw_collective_svg(*planner::find_concept("all-reduce")));
  const std::vector<parsed_svg::Box> sums = picture.texts_that_are("c0+c1+c2+c3");
  ASSERT_EQ(sums.size(), 4u);  // one per rank
  for (const parsed_svg::Box& text : sums) {
    bool held = false;
    for (const parsed_svg::Box& cell : picture.rects_of("f2")) held = held || text.inside(cell);
    EXPECT_TRUE(held);
  }
}

}  // namespace concept_text_test
}  // namespace rankwright::report
