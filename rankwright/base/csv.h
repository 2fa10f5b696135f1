// Reads comma-separated tables with a header row, the format of the catalogs and of measurements.
// Quoted cells may hold commas, quotes (doubled) and line breaks; lines that begin with '#' are
// comments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/result.h"

namespace rankwright {

struct Csv {
  std::vector<std::string> header;
  struct Row {
    int line = 0;  // line number of the row's first line, for diagnostics
    std::vector<std::string> cells;
  };
  std::vector<Row> rows;

  /// Returns the cell of `row` under `column`; empty if the table has no such column.
  std::string_view cell(const Row& row, std::string_view column) const;
};

/// Parses a table. Every row must have as many cells as the header, and column names must be
/// unique. `file` is used only in the diagnostic. Empty lines are skipped.
Result<Csv> parse_csv(std::string_view text, std::string_view file);

}  // namespace rankwright
