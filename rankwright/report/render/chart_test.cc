#include "rankwright/report/render/chart.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace rankwright::report {
namespace chart_test {

using ::testing::ElementsAre;

TEST(TextWidth, SumsCharacterWidthsTimesFontSize) {
  // 't' 0.41, 'p' 0.64, ' ' 0.36, '8' 0.64 of 13 pixels; small of 11; bold 1.13 times as wide.
  EXPECT_DOUBLE_EQ(measure_text_width("tp 8"), 13 * (0.41 + 0.64 + 0.36 + 0.64));
  EXPECT_DOUBLE_EQ(measure_text_width("tp 8", "e s"), 11 * 2.05);
  EXPECT_DOUBLE_EQ(measure_text_width("tp 8", "n"), 1.13 * 13 * 2.05);
  EXPECT_EQ(measure_text_width(""), 0);
}

TEST(TextWidth, CountsAMultibyteCharacterOnce) {
  EXPECT_EQ(measure_text_width("é"), measure_text_width("模"));
  EXPECT_EQ(measure_text_width("\xff"), measure_text_width("?"));
}

TEST(Fitted, KeepsWhatFitsAndAddsAnEllipsis) {
  EXPECT_EQ(fitted("infiniband", 200), "infiniband");
  // 'i' and 'l' take 3.9 pixels each and the ellipsis 13: two letters fit into 21.
  EXPECT_EQ(fitted("llllllllll", 21), "ll…");
  EXPECT_EQ(fitted("infiniband", 5), "");
}

TEST(TextLines, BreakBetweenItemsRatherThanInsideOne) {
  const double width = measure_text_width("tp 8 on nvlink · pp 4 on");
  EXPECT_THAT(break_text("tp 8 on nvlink · pp 4 on infiniband", width),
              ElementsAre("tp 8 on nvlink", "pp 4 on infiniband"));
  EXPECT_THAT(break_text("what fills a device", measure_text_width("what fills")),
              ElementsAre("what fills", "a device"));
  EXPECT_TRUE(break_text("", 100).empty());
}

RC_GTEST_PROP(TextLines, NeverExceedTheWidth, (const std::string& words)) {
  const double width = double(*rc::gen::inRange(10, 300));
  const std::size_t max = *rc::gen::inRange<std::size_t>(1, 5);
  const std::string classes = *rc::gen::elementOf(std::vector<std::string>{"", "h", "s n"});
  const std::vector<std::string> lines = break_text(words, width, classes, max);
  RC_ASSERT(lines.size() <= max);
  for (const std::string& line : lines) RC_ASSERT(measure_text_width(line, classes) <= width);
}

TEST(ChartColor, AreDistinctAndThenRepeat) {
  std::set<std::string> seen;
  for (i64 k = 0; k < kChartColors; ++k)
    EXPECT_TRUE(seen.insert(hex(pick_chart_color(k))).second) << k;
  EXPECT_EQ(pick_chart_color(kChartColors), pick_chart_color(0));
  EXPECT_EQ(hex(pick_chart_color(0)), "#0072b2");
}

TEST(Scale, MapsValuesToPixels) {
  const Scale linear{.low = 10, .high = 30, .from = 100, .to = 200};
  EXPECT_DOUBLE_EQ(linear.at(15), 125);
  const Scale decades{.low = 1, .high = 100, .from = 200, .to = 0, .log = true};
  EXPECT_DOUBLE_EQ(decades.at(10), 100);
}

TEST(Ticks, AreRoundAndInside) {
  EXPECT_THAT(ticks({.low = 3.9, .high = 7.1}, 8), ElementsAre(4, 4.5, 5, 5.5, 6, 6.5, 7));
  EXPECT_THAT(ticks({.low = 0, .high = 80}, 5), ElementsAre(0, 20, 40, 60, 80));
  // At least a tenth of two decades apart: 9 to 10 is less.
  EXPECT_THAT(ticks({.low = 5, .high = 500, .log = true}, 10),
              ElementsAre(5, 8, 15, 30, 50, 80, 150, 300, 500));
  EXPECT_THAT(ticks({.low = 42, .high = 200, .log = true, .base = 2}, 9),
              ElementsAre(48, 64, 96, 128, 192));
}

RC_GTEST_PROP(Ticks, AreFewAndInside, ()) {
  const double low = double(*rc::gen::inRange(1, 1000)) / 10;
  const Scale scale{.low = low,
                    .high = low * (1 + double(*rc::gen::inRange(1, 2000)) / 100),
                    .log = *rc::gen::arbitrary<bool>(),
                    .base = *rc::gen::elementOf(std::vector<int>{2, 10})};
  const std::vector<double> all = ticks(scale, 8);
  RC_ASSERT(all.size() <= 9u);
  for (const double tick : all) {
    RC_ASSERT(tick >= scale.low * (1 - 1e-9));
    RC_ASSERT(tick <= scale.high * (1 + 1e-9));
  }
}

}  // namespace chart_test
}  // namespace rankwright::report
