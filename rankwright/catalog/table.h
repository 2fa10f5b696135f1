// Reads the cells of the catalog's CSV files. They are compiled in and guarded by a test, so an
// unreadable cell is an internal error, not a user error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/check.h"
#include "rankwright/base/csv.h"
#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"

namespace rankwright::catalog {

extern const std::string_view kDevicesCsv;
extern const std::string_view kSystemsCsv;
extern const std::string_view kModelsCsv;
extern const std::string_view kCalibrationCsv;
extern const std::string_view kProbedCsv;
extern const std::string_view kBandsCsv;
extern const std::string_view kValidatedCsv;
extern const std::string_view kFailuresCsv;

/// Parses an embedded table; `file` is its name in the repository.
inline Csv parse_shipped_table(std::string_view text, std::string_view file) {
  Result<Csv> table = parse_csv(text, file);
  RW_CHECK(table);
  return std::move(*table);
}

/// One row of a table, read by column. An empty cell reads as zero.
class Cells {
 public:
  Cells(const Csv& table, const Csv::Row& row) : table_(table), row_(row) {}

  std::string text(std::string_view column) const { return std::string(table_.cell(row_, column)); }
  double number(std::string_view column) const { return read<double>(column, parse_decimal); }
  i64 count(std::string_view column) const { return read<i64>(column, parse_number); }
  Bytes bytes(std::string_view column) const { return read<Bytes>(column, parse_bytes); }
  BytesPerSecond bandwidth(std::string_view column) const {
    return read<BytesPerSecond>(column, parse_bandwidth);
  }
  Seconds duration(std::string_view column) const { return read<Seconds>(column, parse_duration); }
  FlopsPerSecond flops(std::string_view column) const {
    return read<FlopsPerSecond>(column, parse_flops);
  }

 private:
  static Result<double> parse_decimal(std::string_view text) { return parse_real(text); }
  static Result<i64> parse_number(std::string_view text) { return parse_count(text); }

  template <class T>
  T read(std::string_view column, Result<T> (*parse)(std::string_view)) const {
    const std::string_view cell = table_.cell(row_, column);
    if (cell.empty()) return T{};
    const Result<T> value = parse(cell);
    RW_CHECK(value);
    return *value;
  }

  const Csv& table_;
  const Csv::Row& row_;
};

/// Splits a list: "a;b" -> a, b.
std::vector<std::string> split_list(std::string_view);

/// Returns RW0908 for a name that is not a known `kind` ("device"), with the nearest of `known` as
/// a hint, or the command that lists them.
Diagnostic unknown_name(std::string_view kind, std::string_view name,
                        const std::vector<std::string>& known);

}  // namespace rankwright::catalog
