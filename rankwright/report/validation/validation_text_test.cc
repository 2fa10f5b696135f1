#include "rankwright/report/validation/validation_text.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "rankwright/report/render/svg.h"
#include "rankwright/report/render/table.h"
#include "rankwright/report/validation/validation_svg.h"
#include "tests/support/golden.h"
#include "tests/support/parsed_svg.h"
#include "tests/support/runs.h"

namespace rankwright::report {
namespace validation_text_test {

using nlohmann::json;
using ::testing::HasSubstr;

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
  // 3 rows are scored and 1 is excluded: 75 % are predicted. The errors are +10, -20 and +50 %: a
  // mean of 80 / 3 and a bias of 40 / 3. The dense rows have 30 / 2 and -10 / 2; the two families
  // have (15 + 50) / 2. 9 of 10 GB are allocated: -10 %. The dense rows are one pair, off by
  // 1.1 / 0.8 = 1.375; the sparse row has no pair. The rows themselves are not listed.
  const Sample sample;
  golden::expect("validation/totals.txt",
                 render_validation_text(sample.validation, sample.source, false));
}

TEST(ValidationText, All_AppendsEveryRow) {
  // r0 was predicted to take 11 s and took 10 s, with the micro-batch that was chosen for it.
  const Sample sample;
  const std::string totals = render_validation_text(sample.validation, sample.source, false);
  const std::string all = render_validation_text(sample.validation, sample.source, true);
  ASSERT_TRUE(all.starts_with(totals));
  golden::expect("validation/rows.txt", all.substr(totals.size()));
}

TEST(ValidationText, ConstantsAtTheirPriors_AreNamed) {
  Sample sample;
  const std::vector<std::string> without =
      golden::lines(render_validation_text(sample.validation, sample.source, false));
  sample.validation.at_priors = {"own"};
  std::string added;
  for (const std::string& line :
       golden::lines(render_validation_text(sample.validation, sample.source, false)))
    if (std::find(without.begin(), without.end(), line) == without.end()) added += line + "\n";
  golden::expect("validation/at-priors.txt", added);
}

TEST(ValidationText, IsAtMostAHundredColumnsWide) {
  Sample sample;
  for (rankwright::validate::Run& run : sample.runs) run.id.append(200, 'x');
  sample.validation.score = compute_score(sample.validation.rows);
  sample.validation.refits["own"] = catalog::get_calibration();
  const std::vector<std::string> lines =
      golden::lines(render_validation_text(sample.validation, sample.source, true));
  ASSERT_GT(lines.size(), sample.runs.size());
  for (const std::string& line : lines) EXPECT_LE(display_width(line), 100u) << line;
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

/// Returns the texts of a picture, then the titles of its markers, one per line.
std::string list_words(const std::string& svg) {
  const parsed_svg::Picture picture(svg);
  std::string all;
  for (const parsed_svg::Box& text : picture.texts) all += text.words + "\n";
  for (const pugi::xpath_node& title : picture.root().select_nodes("//title"))
    all += std::string(title.parent().name()) + ": " + title.node().text().get() + "\n";
  return all;
}

TEST(ValidationSvg, DrawsEachRowInsideTheFrame) {
  const Sample sample;
  const std::string svg = draw_validation_svg(sample.validation);
  EXPECT_THAT(svg, HasSubstr("class=\"o c0\"><title>r2"));  // hollow: MoE
  EXPECT_THAT(svg, HasSubstr("own &lt;&amp;&gt;"));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  golden::expect("validation/svg-words.txt", list_words(svg));
}

TEST(ValidationSvg, NoRows_DrawsAnEmptyFrame) {
  golden::expect("validation/svg-no-rows.txt",
                 list_words(draw_validation_svg(validate::Validation{})));
}

TEST(Svg, ReplacesWhatXmlCannotContain) {
  EXPECT_EQ(svg::escaped("a<b&\"c\x01\xff\xc3\xa9"), "a&lt;b&amp;&quot;c ?\xc3\xa9");
  EXPECT_EQ(svg::escaped("\xed\xa0\x80\xe2\x82"),
            "?????");  // half of a surrogate pair; a truncated character
}

}  // namespace validation_text_test
}  // namespace rankwright::report
