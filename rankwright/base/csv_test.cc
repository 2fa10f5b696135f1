#include "rankwright/base/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rankwright {
namespace csv_test {

using ::testing::ElementsAre;

TEST(Csv, ReadsAHeaderAndRowsWithTheirLines) {
  const Csv table = parse_csv("name,memory\nh100,80 GB\n\nb200,180 GB", "x.csv").value();
  EXPECT_THAT(table.header, ElementsAre("name", "memory"));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].line, 2);
  EXPECT_EQ(table.cell(table.rows[0], "memory"), "80 GB");
  EXPECT_EQ(table.rows[1].line, 4);
  EXPECT_EQ(table.cell(table.rows[1], "name"), "b200");
  EXPECT_EQ(table.cell(table.rows[1], "colour"), "");
}

TEST(Csv, QuotedCells_MayHoldCommasQuotesAndLineBreaks) {
  const Csv table =
      parse_csv("a,b\n\"1,5\",\"say \"\"hi\"\"\"\n\"two\n# lines\",\"\"\nx,y\n", "").value();
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_THAT(table.rows[0].cells, ElementsAre("1,5", "say \"hi\""));
  EXPECT_THAT(table.rows[1].cells, ElementsAre("two\n# lines", ""));
  EXPECT_EQ(table.rows[2].line, 5);
}

TEST(Csv, CommentLines_AreSkipped) {
  const Csv table = parse_csv("# from,\"a book\na\n#,\"\n1\n# the end,\"", "").value();
  EXPECT_THAT(table.header, ElementsAre("a"));
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].line, 4);
  EXPECT_THAT(table.rows[0].cells, ElementsAre("1"));
}

TEST(Csv, ByteOrderMarkAndCrLf_AreAccepted) {
  const Csv table = parse_csv(
                        "\xEF\xBB\xBF"
                        "a,b\r\n# no\r\n\r\n1,\"2\"\r\n",
                        "")
                        .value();
  EXPECT_THAT(table.header, ElementsAre("a", "b"));
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_THAT(table.rows[0].cells, ElementsAre("1", "2"));
  EXPECT_EQ(table.rows[0].line, 4);
}

TEST(Csv, StrayQuotesAndCarriageReturns_AreKept) {
  const Csv table = parse_csv("a,b\n 5\" disk ,x\ry\n", "").value();
  EXPECT_THAT(table.rows.at(0).cells, ElementsAre(" 5\" disk ", "x\ry"));
}

void expect_refused(std::string_view text, int line, std::string_view detail) {
  const Result<Csv> table = parse_csv(text, "x.csv");
  ASSERT_FALSE(table) << text;
  EXPECT_EQ(table.error().code, "RW0901");
  EXPECT_EQ(table.error().detail, detail);
  EXPECT_EQ(table.error().where, (Location{.file = "x.csv", .line = line, .column = 1}));
}

TEST(Csv, InvalidTables_AreRejectedWithLineAndReason) {
  expect_refused("", 1, "there is no header row");
  expect_refused("# only this\n\n", 1, "there is no header row");
  expect_refused("a,b\n1,2\n1\n", 3, "1 cell, but the header has 2");
  expect_refused("a,b\n\n1,2,3\n", 3, "3 cells, but the header has 2");
  expect_refused("a,b\n1,\"2\n3,4\n", 2, "a quoted cell has no closing quote");
  expect_refused("a,b\n\"1\"2,3\n", 2, "text follows a closing quote");
  expect_refused("a,b,a\n", 1, "the header names 'a' twice");
}

std::string quoted(const std::string& cell) {
  std::string text = "\"";
  for (const char c : cell) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

RC_GTEST_PROP(Csv, QuotedCells_RoundTrip, ()) {
  const auto cell = rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab,\"\n\r# ")));
  const auto rows = *rc::gen::container<std::vector<std::pair<std::string, std::string>>>(
      rc::gen::pair(cell, cell));
  std::string text = "left,right\n";
  for (const auto& [left, right] : rows) text += quoted(left) + "," + quoted(right) + "\n";
  const Csv table = parse_csv(text, "").value();
  RC_ASSERT(table.rows.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    RC_ASSERT(table.cell(table.rows[i], "left") == rows[i].first);
    RC_ASSERT(table.cell(table.rows[i], "right") == rows[i].second);
  }
}

TEST(Csv, AnyText_GivesFullRowsOrAnError) {
  // Half the lines are rows of the header, so that most texts of a few lines have rows.
  const auto line = rc::gen::weightedOneOf<std::string>(
      {{1, rc::gen::elementOf(std::vector<std::string>{"1,2", "\"a\",b", ",", "\"a\n\",\"\"\"\""})},
       {1, rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab,,\"\"\n\r#")))}});
  std::size_t rows = 0;
  EXPECT_TRUE(rc::check("every row is full", [&] {
    std::string text = "left,right\n";
    for (const std::string& each : *rc::gen::container<std::vector<std::string>>(line))
      text += each + "\n";
    const Result<Csv> table = parse_csv(text, "");
    if (!table) return;
    for (const Csv::Row& row : table->rows) RC_ASSERT(row.cells.size() == table->header.size());
    rows += table->rows.size();
  }));
  EXPECT_GT(rows, 0u);
}

}  // namespace csv_test
}  // namespace rankwright
