#include "rankwright/report/render/table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <sstream>

namespace rankwright::report {
namespace table_test {

const Table kTable{{{"name"}, {"µ", Table::Align::right}, {"remark"}},
                   {{"déjà", "1", "x"}, {"b", "1,000", ""}}};

TEST(DisplayWidth, CountsCharactersNotBytes) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("déjà"), 4u);  // 6 bytes
  EXPECT_EQ(display_width("─│"), 2u);    // 6 bytes
}

TEST(Table, AlignsByCharactersAndTrimsLineEnds) {
  EXPECT_EQ(kTable.text({}),
            "name      µ  remark\n"
            "déjà      1  x\n"
            "b     1,000\n");
}

TEST(Table, IndentsEveryLine) {
  const Table one{{{"a"}}, {{"b"}}};
  EXPECT_EQ(one.text({}, "  "), "  a\n  b\n");
  EXPECT_EQ((Table{{{"a"}}}.text({})), "a\n");
}

TEST(Table, HasABoldHeader) {
  const Table one{{{"a"}}, {{"b"}}};
  EXPECT_EQ(one.text({.on = true}), "\033[1ma\033[0m\nb\n");
}

TEST(Table, EscapesBarsInMarkdown) {
  const Table one{{{"layout"}, {"n", Table::Align::right}}, {{"Et|tL", "2"}}};
  EXPECT_EQ(one.markdown(),
            "| layout | n |\n"
            "|---|---:|\n"
            "| Et\\|tL | 2 |\n");
}

TEST(Wrapped, BreaksBetweenWords) {
  EXPECT_EQ(wrap_text("one two three", 7, "> "), "> one two\n> three\n");
  EXPECT_EQ(wrap_text("one two three", 80, ""), "one two three\n");
  EXPECT_EQ(wrap_text("", 10, "  "), "");
}

TEST(Wrapped, NeverBreaksAWord) {
  EXPECT_EQ(wrap_text("a incomprehensible b", 4, ""), "a\nincomprehensible\nb\n");
}

TEST(Wrapped, CountsCharacters) { EXPECT_EQ(wrap_text("é é é", 3, ""), "é é\né\n"); }

RC_GTEST_PROP(Wrapped, KeepsTheWordsAndTheWidth, ()) {
  const auto words = *rc::gen::container<std::vector<std::string>>(
      rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange('a', 'z'))));
  const std::size_t width = *rc::gen::inRange<std::size_t>(1, 40);
  std::string text, joined;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  std::istringstream lines(wrap_text(text, width, ""));
  for (std::string line; std::getline(lines, line);) {
    RC_ASSERT(line.size() <= width || line.find(' ') == std::string::npos);
    joined += (joined.empty() ? "" : " ") + line;
  }
  RC_ASSERT(joined == text);
}

TEST(LinesOf, BreaksOnlyAtTheGap) {
  EXPECT_EQ(break_lines("tp 8 · pp 4 · dp 2", " · ", " ·", 15, "  "), "  tp 8 · pp 4 ·\n  dp 2\n");
  // A part that is too long breaks at blanks.
  EXPECT_EQ(break_lines("one two three four", " · ", " ·", 10, ""), "one two\nthree four\n");
}

TEST(Remarked, WrapsTextInsideItsColumn) {
  const Table table{
      {{"what"}, {"n", Table::Align::right}, {"because"}},
      {{"a", "1", "some words that are longer than what is left of the line"}, {"b", "22", ""}}};
  EXPECT_EQ(format_remarked_table(table, {}, "  ", 48),
            "  what   n  because\n"
            "  a      1  some words that are longer than what\n"
            "            is left of the line\n"
            "  b     22\n");
}

TEST(Remarked, PutsTextBelowTheRowOnANarrowTerminal) {
  const Table table{{{"a long name of a column"}, {"because"}}, {{"x", "some words"}}};
  EXPECT_EQ(format_remarked_table(table, {}, "", 40),
            "a long name of a column\nx\n    some words\n");
}

}  // namespace table_test
}  // namespace rankwright::report
