// Comma-separated tables with a header row, as catalogs and measurements are kept. Quoted cells may
// hold commas, quotes (doubled) and line breaks; lines that begin with '#' are comments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/result.h"

namespace rankwright {

struct Csv {
  std::vector<std::string> header;
  struct Row {
    int line = 0;  // where the row begins, for diagnostics
    std::vector<std::string> cells;
  };
  std::vector<Row> rows;

  /// The cell of `row` under `column`; empty where the column is absent.
  std::string_view cell(const Row& row, std::string_view column) const;
};

/// Every row has as many cells as the header, which names no column twice; `file` is only named in
/// the diagnostic. Empty lines are skipped.
Result<Csv> parse_csv(std::string_view text, std::string_view file);

}  // namespace rankwright
