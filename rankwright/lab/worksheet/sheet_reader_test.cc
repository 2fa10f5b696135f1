#include "rankwright/lab/worksheet/sheet_reader.h"

#include <gtest/gtest.h>

namespace rankwright::lab {
namespace sheet_reader_test {

using Cells = std::vector<std::string>;

std::vector<SheetRow> example_rows() {
  return {{SheetTable::axes, "TP", 0},
          {SheetTable::axes, "FSDP/ZeRO", 1},
          {SheetTable::communication, "TP all-gather", 0},
          {SheetTable::communication, "gradient norm", 1, false},
          {SheetTable::states, "parameters", 0}};
}

GivenSheet read(const std::string& text) { return read_worksheet(text, "a.md", example_rows()); }

TEST(SplitMarkdownRow, PipesBlanksAndEscapes) {
  EXPECT_EQ(split_markdown_row("| TP | 8 |  |"), (Cells{"TP", "8", ""}));
  EXPECT_EQ(split_markdown_row("TP | 8"), (Cells{"TP", "8"}));
  EXPECT_EQ(split_markdown_row("| a \\| b | c\\*d | \\q |"), (Cells{"a | b", "c*d", "\\q"}));
  EXPECT_EQ(split_markdown_row("|"), Cells{});
  EXPECT_EQ(split_markdown_row(""), Cells{});
  EXPECT_EQ(split_markdown_row("| a \\"), (Cells{"a \\"}));
}

TEST(ReadWorksheet, CellsAreFoundByRowAndColumn) {
  const GivenSheet sheet = read(
      "# Mine\r\ntext\n\n"
      "| axis | reason | my notes | degree |\n|:--|--:|:-:|---|\n"
      "| tensor parallelism | because | x | 8 |\n| ZeRO | | | |\n");
  EXPECT_TRUE(sheet.findings.empty());
  EXPECT_EQ(sheet.cell(0, SheetColumn::degree), "8");
  EXPECT_EQ(sheet.cell(0, SheetColumn::reason), "because");
  EXPECT_EQ(sheet.cell(0, SheetColumn::placement), "");
  EXPECT_FALSE(sheet.column_line.contains(SheetColumn::placement));
  EXPECT_EQ(sheet.table_line[0], 4);
  EXPECT_EQ(sheet.row_line[0], 6);
  EXPECT_EQ(sheet.row_line[1], 7);
  EXPECT_EQ(sheet.table_line[1], 0);  // no such table
}

TEST(ReadWorksheet, RenamedFirstColumn_IsRecognizedByTheOthers) {
  EXPECT_EQ(read("| dim. | degree | placement |\n|---|---|---|\n| TP | 8 | x |\n")
                .cell(0, SheetColumn::degree),
            "8");
}

TEST(ReadWorksheet, WithoutRuleOrOuterPipes_IsRead) {
  EXPECT_EQ(read("axis | degree\nTP | 8\n").cell(0, SheetColumn::degree), "8");
}

TEST(ReadWorksheet, SpellingOfLabels_IsTolerated) {
  const GivenSheet sheet =
      read("| communication | frequency |\n|---|---|\n| **TP AllGather** | per layer |\n");
  EXPECT_EQ(sheet.cell(2, SheetColumn::frequency), "per layer");
}

TEST(ReadWorksheet, UnknownRow_IsAWarningWithItsLine) {
  const GivenSheet sheet = read("| axis | degree |\n|---|---|\n| TPP | 8 |\n");
  ASSERT_EQ(sheet.findings.size(), 1u);
  EXPECT_EQ(sheet.findings[0].code, "RW0902");
  EXPECT_EQ(sheet.findings[0].where.line, 3);
  EXPECT_NE(sheet.findings[0].hint.find("'TP'"), std::string::npos);
}

TEST(ReadWorksheet, UnescapedPipe_IsAWarning) {
  const GivenSheet sheet = read("| axis | degree |\n|---|---|\n| TP | 8 | 9 |\n");
  ASSERT_EQ(sheet.findings.size(), 1u);
  EXPECT_EQ(sheet.findings[0].where.line, 3);
  EXPECT_EQ(sheet.cell(0, SheetColumn::degree), "8");
}

TEST(ReadWorksheet, RepeatedRowOrTable_IsAnError) {
  const std::string table = "| axis | degree |\n|---|---|\n| TP | 8 |\n";
  for (const std::string& text : {table + "| TP | 4 |\n", table + "\n" + table}) {
    const GivenSheet sheet = read(text);
    ASSERT_EQ(sheet.findings.size(), 1u);
    EXPECT_EQ(sheet.findings[0].code, "RW0905");
    EXPECT_GT(sheet.findings[0].where.line, 3);
  }
}

TEST(ReadWorksheet, NoTable_IsAnError) {
  for (const char* text : {"", "text", "| a | b |\n|---|---|\n| c | d |\n",
                           "```\n| axis | degree |\n|---|---|\n| TP | 8 |\n```\n"}) {
    const GivenSheet sheet = read(text);
    ASSERT_EQ(sheet.findings.size(), 1u) << text;
    EXPECT_EQ(sheet.findings[0].code, "RW0933") << text;
  }
}

TEST(ReadWorksheet, SizesAreBounded) {
  const std::string head = "| axis | degree |\n|---|---|\n";
  std::string rows;
  for (std::size_t k = 0; k <= kMaxTableRows; ++k) rows += "| x | y |\n";
  for (const std::string& text :
       {std::string(kMaxSheetBytes + 1, ' '),
        head + "| TP | " + std::string(kMaxCellBytes + 1, 'x') + " |\n", head + rows}) {
    const GivenSheet sheet = read(text);
    ASSERT_TRUE(has_errors(sheet.findings));
    EXPECT_EQ(sheet.findings.back().code, "RW0906");
  }
  EXPECT_FALSE(
      has_errors(read(head + "| TP | " + std::string(kMaxCellBytes, 'x') + " |").findings));
}

}  // namespace sheet_reader_test
}  // namespace rankwright::lab
