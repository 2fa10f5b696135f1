// Reads a filled worksheet: Markdown with the tables that write_worksheet() writes. The input is
// untrusted. Tables are found by their headings and rows by their labels, so text around them,
// their order, and columns of the learner's own do not matter.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "rankwright/base/diagnostic.h"
#include "rankwright/lab/worksheet/sheet.h"

namespace rankwright::lab {

inline constexpr std::size_t kMaxSheetBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxCellBytes = 2000;
inline constexpr std::size_t kMaxTableRows = 200;

/// A worksheet as filled in.
struct GivenSheet {
  std::string name{}, text{};
  std::vector<SheetRow> rows{};  // those of list_sheet_rows()

  /// The line of each table's heading, of each row, and of each column's heading; 0: missing.
  int table_line[kSheetTables] = {};
  std::vector<int> row_line{};               // by index in `rows`
  std::map<SheetColumn, int> column_line{};  // only columns that the file has
  std::map<std::pair<std::size_t, SheetColumn>, std::string> cells{};  // by index in `rows`

  Diagnostics findings{};  // with errors nothing is judged

  /// Returns the text of a cell; empty if it is missing.
  std::string_view cell(std::size_t row, SheetColumn column) const;
};

/// Reads a worksheet for the plan whose rows are given. Never fails: `findings` reports what could
/// not be read. RW0933 means that the file has no table of a worksheet.
GivenSheet read_worksheet(std::string text, std::string name, std::vector<SheetRow> rows);

/// Splits a row of a Markdown table into its cells, without the blanks around them. `\|` is a pipe
/// inside a cell, and a backslash before other punctuation is removed.
std::vector<std::string> split_markdown_row(std::string_view line);

}  // namespace rankwright::lab
