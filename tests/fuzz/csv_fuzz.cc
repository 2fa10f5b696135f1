// Any text is read as a table, or refused; every row of a table has the cells of its header, and
// gives them by the names of the columns that have one.
#include "rankwright/base/csv.h"
#include "tests/fuzz/fuzz.h"

int fuzz_csv(const std::uint8_t* data, std::size_t size) {
  using namespace rankwright;
  const Result<Csv> table = parse_csv(as_text(data, size), "fuzz.csv");
  if (!table) {
    check_finding(table.error());
    return 0;
  }
  for (const Csv::Row& row : table->rows) {
    RW_CHECK(row.line >= 1 && row.cells.size() == table->header.size());
    for (std::size_t i = 0; i < row.cells.size(); ++i)
      RW_CHECK(table->header[i].empty() || table->cell(row, table->header[i]) == row.cells[i]);
  }
  return 0;
}
