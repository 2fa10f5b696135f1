#include "rankwright/report/validation/validation_text.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "rankwright/report/render/svg.h"
#include "rankwright/report/render/table.h"
#include "rankwright/report/validation/validation_svg.h"
#include "tests/support/runs.h"

namespace rankwright::report {
namespace validation_text_test {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

/// Returns two dense rows, 10 % too long and 20 % too short, and a sparse one 50 % too long.
struct Sample {
  std::vector<validate::Run> runs{3};
  validate::Validation validation{};
  planner::ValidationSource source{
      .files = {"own.csv"}, .with = {}, .excluded = {{"x", "own", "no heads"}}};

  Sample() {
    const double predicted[] = {11, 8, 15};
    for (std::size_t i = 0; i < runs.size(); ++i) {
      runs[i].id = "r" + std::to_string(i);
      runs[i].family = runs[i].publication = "own <&>";
      runs[i].measured = {10};
      runs[i].sparse = i == 2;
      validation.rows.push_back(
          {.run = &runs[i], .config = &runs[i].config, .step = {predicted[i]}});
    }
    runs[0].open_micro_batch = true;
    runs[0].measured_memory = 10.0_GB;
    validation.rows[0].memory = 9.0_GB;
    validation.score = compute_score(validation.rows);
  }
};

TEST(ValidationText, StartsWithTheTotals) {
  const Sample sample;
  const std::string text = render_validation_text(sample.validation, sample.source, false);
  EXPECT_THAT(text, HasSubstr("3 runs with the shipped constants. Of 4 rows of quality A and B 3 "
                              "can be predicted (75.0 %)."));
  EXPECT_THAT(text, HasSubstr("\nall                3  26.7 %  +13.3 %  50.0 %  +50.0 %  r2\n"));
  EXPECT_THAT(text, HasSubstr("\ndense              2  15.0 %   -5.0 %  20.0 %  -20.0 %  r1\n"));
  EXPECT_THAT(text, HasSubstr("\nfamilies           2  32.5 %"));  // (15 + 50) / 2
  EXPECT_THAT(text, HasSubstr("\nallocated     1  10.0 %  -10.0 %"));
  // 1.1 / 0.8 = 1.375; the sparse row has no pair.
  EXPECT_THAT(text, HasSubstr("\nTwo plans of one dense model on the same GPUs: half of the pairs "
                              "are off against each other by\nno more than 37.5 %, nine of ten by "
                              "no more than 37.5 % (1 pair in 1 group).\n"));
  EXPECT_THAT(text, Not(HasSubstr("one MoE model")));
  EXPECT_THAT(text, HasSubstr("\nexcluded\n  no heads: x\n"));
  EXPECT_THAT(text, Not(HasSubstr("predicted  measured")));
}

TEST(ValidationText, All_ListsEveryRow) {
  const Sample sample;
  const std::string text = render_validation_text(sample.validation, sample.source, true);
  EXPECT_THAT(text, HasSubstr("\nr0        11 s      10 s  +10.0 %  -10.0 %  mb1\n"));
}

TEST(ValidationText, SaysThatConstantsEqualTheirPriors) {
  Sample sample;
  sample.validation.at_priors = {"own"};
  EXPECT_THAT(render_validation_text(sample.validation, sample.source, false),
              HasSubstr("own: no other publication is among the rows, so the constants stand at"));
}

TEST(ValidationText, IsAtMostAHundredColumnsWide) {
  Sample sample;
  for (rankwright::validate::Run& run : sample.runs) run.id.append(200, 'x');
  sample.validation.score = compute_score(sample.validation.rows);
  sample.validation.refits["own"] = catalog::get_calibration();
  std::istringstream lines(render_validation_text(sample.validation, sample.source, true));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 100u) << line;
}

TEST(ValidationJson, HasErrorsInPercent) {
  const Sample sample;
  const json j = json::parse(make_validation_json(sample.validation, sample.source));
  EXPECT_EQ(j["schema"], "rankwright.validation/1");
  EXPECT_EQ(j["units"]["error"], "percent");
  EXPECT_NEAR(j["step_time"]["mape"].get<double>(), 80.0 / 3, 1e-9);
  EXPECT_NEAR(j["step_time"]["dense"]["mape"].get<double>(), 15, 1e-9);
  EXPECT_NEAR(j["step_time"]["moe"]["worst"].get<double>(), 50, 1e-9);
  EXPECT_EQ(j["step_time"]["families"].size(), 2u);
  EXPECT_EQ(j["step_time"]["calculon"]["rows"], 0);
  EXPECT_NEAR(j["memory"]["allocated"]["bias"].get<double>(), -10, 1e-9);
  EXPECT_NEAR(j["pairs"]["dense"]["median"].get<double>(), 37.5, 1e-9);
  EXPECT_EQ(j["pairs"]["dense"]["groups"], 1);
  EXPECT_EQ(j["pairs"]["moe"]["pairs"], 0);
  EXPECT_EQ(j["scored"]["percent"], 75);
  EXPECT_EQ(j["excluded"][0]["why"], "no heads");
  EXPECT_EQ(j["constants"].size(), catalog::constants().size());
  EXPECT_EQ(j["rows"][0]["chosen"]["micro_batch"], 1);
  EXPECT_NEAR(j["rows"][1]["error"].get<double>(), -20, 1e-9);
}

TEST(ValidationSvg, DrawsEachRowInsideTheFrame) {
  const Sample sample;
  const std::string svg = draw_validation_svg(sample.validation);
  EXPECT_THAT(svg, HasSubstr("<title>r0: predicted 11 s, measured 10 s, +10.0 %</title></circle>"));
  EXPECT_THAT(svg, HasSubstr("class=\"o c0\"><title>r2"));  // hollow: MoE
  EXPECT_THAT(svg, HasSubstr("own &lt;&amp;&gt; MoE"));
  EXPECT_THAT(svg, HasSubstr("within ±25 %"));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(ValidationSvg, NoRows_DrawsAnEmptyFrame) {
  EXPECT_THAT(draw_validation_svg(validate::Validation{}), HasSubstr("0 training runs"));
}

TEST(Svg, ReplacesWhatXmlCannotContain) {
  EXPECT_EQ(svg::escaped("a<b&\"c\x01\xff\xc3\xa9"), "a&lt;b&amp;&quot;c ?\xc3\xa9");
  EXPECT_EQ(svg::escaped("\xed\xa0\x80\xe2\x82"),
            "?????");  // half of a surrogate pair; a truncated character
}

}  // namespace validation_text_test
}  // namespace rankwright::report
