#include "rankwright/report/render/bars.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <sstream>

#include "rankwright/report/render/table.h"

namespace rankwright::report {
namespace bars_test {

constexpr Paint kPlain{}, kColor{.on = true};

TEST(Bar, ZeroFractionIsEmpty) {
  EXPECT_EQ(bar(0, 10, kPlain), "");
  EXPECT_EQ(bar(-1, 10, kColor), "");
}

TEST(Bar, IsDrawnInEighths) {
  // 0.45 of 10 columns is 4 columns and 4 eighths.
  EXPECT_EQ(bar(0.45, 10, kColor), "████▌");
  EXPECT_EQ(bar(1, 3, kColor), "███");
  EXPECT_EQ(bar(0.001, 10, kColor), "▏");
}

TEST(Bar, UsesAsciiWithoutColor) {
  EXPECT_EQ(bar(0.45, 10, kPlain), "#####");
  EXPECT_EQ(bar(0.001, 10, kPlain), ".");
}

RC_GTEST_PROP(Bar, StaysWithinColumnsAndGrowsWithTheFraction, ()) {
  const std::size_t columns = *rc::gen::inRange<std::size_t>(1, 60);
  const double less = double(*rc::gen::inRange(1, 1500)) / 1000;
  const double more = less + double(*rc::gen::inRange(0, 500)) / 1000;
  for (const Paint& paint : {kPlain, kColor}) {
    const std::size_t shorter = display_width(bar(less, columns, paint));
    RC_ASSERT(shorter >= 1u && shorter <= columns);
    RC_ASSERT(shorter <= display_width(bar(more, columns, paint)));
  }
}

TEST(DifferenceBar, ExtendsRightForMoreAndLeftForLess) {
  EXPECT_EQ(draw_difference_bar(0.5, 4, kPlain), "    |##");
  EXPECT_EQ(draw_difference_bar(-0.5, 4, kPlain), "  ##|");
  EXPECT_EQ(draw_difference_bar(0, 4, kPlain), "    |");
  EXPECT_EQ(draw_difference_bar(-0.001, 4, kPlain), "   .|");
  // 0.625 of 4 columns is 2.5 columns, on the left as on the right.
  EXPECT_EQ(draw_difference_bar(-0.625, 4, kColor), " \033[32m▐██\033[0m│");
  EXPECT_EQ(draw_difference_bar(0.625, 4, kColor), "    │\033[33m██▌\033[0m");
}

RC_GTEST_PROP(DifferenceBar, KeepsItsCenterLineInOneColumn, ()) {
  const std::size_t columns = *rc::gen::inRange<std::size_t>(1, 60);
  const double fraction = double(*rc::gen::inRange(-1500, 1500)) / 1000;
  const std::string drawn = draw_difference_bar(fraction, columns, kPlain);
  RC_ASSERT(drawn.find('|') == columns);
  RC_ASSERT(drawn.size() <= 2 * columns + 1);
}

TEST(ShareText, HasOneDecimal) {
  EXPECT_EQ(format_share(0), "0.0 %");
  EXPECT_EQ(format_share(0.0004), "<0.1 %");
  EXPECT_EQ(format_share(0.4096), "41.0 %");
}

TEST(Bars, AlignInColumns) {
  EXPECT_EQ(
      draw_bar_lines({{.name = "a", .fraction = 1, .figures = {"10 s", "90.9 %"}, .remark = "x"},
                      {.name = "long", .fraction = 0.1, .figures = {"1 s", "9.1 %"}}},
                     kPlain, 37),
      "  a     ############  10 s  90.9 %  x\n"
      "  long  #              1 s   9.1 %\n");
}

TEST(Bars, WrapLongRemarksBelow) {
  const std::string text = draw_bar_lines(
      {{.name = "a",
        .fraction = 1,
        .figures = {"1 s"},
        .remark = std::string(8, 'x') + " and so on until there is no more room in the line"}},
      kPlain, 60);
  std::istringstream lines(text);
  std::size_t many = 0;
  for (std::string line; std::getline(lines, line); ++many) EXPECT_LE(line.size(), 60u);
  EXPECT_EQ(many, 2u);
}

}  // namespace bars_test
}  // namespace rankwright::report
