#include "rankwright/report/timeline/timeline_svg.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <regex>

#include "rankwright/report/timeline/timeline_drawing.h"
#include "tests/support/golden.h"
#include "tests/support/parsed_svg.h"
#include "tests/support/simulated_steps.h"

namespace rankwright::report {
namespace timeline_svg_test {

using ::testing::HasSubstr;
using ::testing::Not;

std::string draw(const planner::SimulatedStep& p,
                 std::string_view heading = "a model on a cluster") {
  return draw_timeline_svg(p, summary(p), heading);
}

std::size_t count_occurrences(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++found;
  return found;
}

/// Returns what is wrong with the nesting of an XML text; empty if nothing is.
std::string find_nesting_error(const std::string& text) {
  std::vector<std::string> open;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const std::size_t end = text.find('>', at);
    if (end == std::string::npos) return "an open tag at the end";
    const std::string tag = text.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string::npos) return "a tag in " + tag;
    const std::string name = tag.substr(0, tag.find(' '));
    if (tag.starts_with('/')) {
      if (open.empty() || "/" + open.back() != tag) return tag + " closes nothing";
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
    at = end;
  }
  return open.empty() ? "" : open.back() + " stays open";
}

/// Returns the texts of a picture, one per line, without the numbers of rows and cells.
std::string list_texts(const parsed_svg::Picture& picture) {
  std::string all;
  for (const parsed_svg::Box& text : picture.texts)
    if (text.classes != "e" && !parsed_svg::is_of(text.classes, "l")) all += text.words + "\n";
  return all;
}

TEST(TimelineSvg, DrawsEveryCellAtItsTime) {
  const std::string text = draw(sample::four_by_eight());
  EXPECT_EQ(count_occurrences(text, "</title></rect>"), 64u);
  // 1,090 pixels for 33 s: 0B0 lasts from 10 s to 12 s, 72 + 330.3 to 72 + 396.36, minus the
  // gap.
  EXPECT_THAT(text,
              HasSubstr("<rect x=\"402.3\" y=\"78\" width=\"65.36\" height=\"26\" class=\"b0\">"
                        "<title>0B0: "));
  EXPECT_EQ(count_occurrences(text, "class=\"m n\">"), 3u);  // warm-up, steady state and drain
  EXPECT_EQ(count_occurrences(text, "class=\"l "), 64u);     // every cell has room for its number
  const parsed_svg::Picture picture(text);
  std::string words = list_texts(picture) + "\n";
  for (const parsed_svg::Box& cell : picture.rects)
    if (cell.words.starts_with("0")) words += cell.words + "\n";  // the cells of stage 0
  golden::expect("timeline/svg-1f1b-4x8.txt", words);
}

TEST(TimelineSvg, IsSelfContainedForLightAndDarkPages) {
  const std::string text = draw(sample::four_by_eight());
  EXPECT_THAT(text, HasSubstr("@media (prefers-color-scheme:dark)"));
  // The only address is the name of the format.
  EXPECT_EQ(count_occurrences(text, "http"), 1u);
  EXPECT_THAT(text, Not(HasSubstr("href")));
  EXPECT_THAT(text, Not(HasSubstr("url(")));
}

TEST(TimelineSvg, EscapesTheHeading) {
  planner::SimulatedStep p = sample::four_by_eight();
  p.times = "a < b && \"c\"";
  const std::string text = draw(p, "</text><script>\033");
  EXPECT_THAT(text, HasSubstr("&lt;/text&gt;&lt;script&gt;?"));
  EXPECT_THAT(text, HasSubstr("a &lt; b &amp;&amp; &quot;c&quot;"));
  EXPECT_EQ(find_nesting_error(text), "");
}

TEST(TimelineSvg, ManyCells_DrawsColumnsAndSaysSo) {
  // 128 x 2 x 512 cells.
  const std::string text = draw(sample::simulate_unit_step({.pp = 128, .microbatches = 512}));
  EXPECT_LT(text.size(), 3u << 20);
  golden::expect("timeline/svg-many-cells.txt", list_texts(parsed_svg::Picture(text)));
  EXPECT_EQ(count_occurrences(text, "</title></rect>"), 0u);
  EXPECT_EQ(find_nesting_error(text), "");
}

TEST(TimelineSvg, DrawsASampleOfManyRanksAndSaysSo) {
  const std::string text = draw(sample::simulate_unit_step({.pp = 300, .microbatches = 2}));
  golden::expect("timeline/svg-many-ranks.txt", list_texts(parsed_svg::Picture(text)));
  EXPECT_THAT(text, HasSubstr(">PP 299<"));
}

RC_GTEST_PROP(TimelineSvg, IsWellNestedAndNamesEveryEvent, ()) {
  const planner::SimulatedStep p = sample::simulate_random_step();
  const std::string text = draw(p);
  RC_ASSERT(find_nesting_error(text) == "");
  std::size_t all = 0;
  for (i64 r = 0; r < p.program.pp(); ++r)
    for (const program::Event& e : events(p, r)) {
      ++all;
      RC_ASSERT(text.find("<title>" + name_event(p.program, r, e.action) + ": ") !=
                std::string::npos);
    }
  RC_ASSERT(all > 0 && count_occurrences(text, "</title></rect>") == all);
}

/// Returns the area that each class covers in the column paths of a row.
double measure_area(const std::string& text, std::string_view classes) {
  const std::string path = fmt::format("<path class=\"{}\" d=\"", classes);
  const std::regex box(
      "M[0-9.]+ [0-9.]+h([0-9.]+)v([0-9.]+)");  // std::regex cannot match a whole path
  double sum = 0;
  for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path, at + 1)) {
    const std::size_t begin = at + path.size();
    const std::string d = text.substr(begin, text.find('"', begin) - begin);
    for (std::sregex_iterator b(d.begin(), d.end(), box), end; b != end; ++b)
      sum += std::stod((*b)[1]) * std::stod((*b)[2]);
  }
  return sum;
}

TEST(TimelineSvg, ColumnAreasMatchTheTimeSpent) {
  // 4 ranks x 3,000 microbatches: of (3,000 + 3) x 3 s, forward takes 3,000 s and backward 6,000
  // s. A row is 1,090 x 26 pixels; heights are rounded to quarters of a pixel.
  const std::string text = draw(sample::simulate_unit_step({.pp = 4, .microbatches = 3000}));
  const double all = 4 * 1090.0 * 26;
  EXPECT_NEAR(measure_area(text, "f0") / all, 3000 / 9009.0, 0.01);
  EXPECT_NEAR(measure_area(text, "b0") / all, 6000 / 9009.0, 0.01);
}

}  // namespace timeline_svg_test
}  // namespace rankwright::report
