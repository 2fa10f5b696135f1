// One row of a table of runs, by column, with the defaults for vTrain's single-node table and the
// accepted range of each number. run_setup.h turns a row into a TrainingConfig.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rankwright/base/csv.h"
#include "rankwright/base/integer.h"
#include "rankwright/base/units.h"

namespace rankwright::validate {

/// One row of a table of runs.
class RunRow {
 public:
  RunRow(const Csv& table, const Csv::Row& row, bool single)
      : table_(table), row_(row), single_(single) {}

  /// Returns whether the row is from vTrain's single-node table.
  bool single() const { return single_; }
  std::string_view text(std::string_view column) const;
  /// Returns the number in a column; nullopt for a blank cell and for words such as "NA".
  std::optional<double> number(std::string_view column) const;
  /// Returns the whole number in a column; nullopt also if it is less than `min`.
  std::optional<i64> whole(std::string_view column, i64 min = 1) const;
  i64 whole_or(std::string_view column, i64 otherwise) const;

  /// Describes the first number out of range, "heads is 0: whole numbers from 1 to 65,536 are
  /// read"; returns an empty string if there is none.
  std::string out_of_bounds() const;
  /// Describes the first missing value that a prediction needs, "no global batch"; returns an empty
  /// string if there is none.
  std::string lacking() const;

  /// Returns the step time as reported, or computed from tokens per second; 0 if the source has
  /// neither or the value is out of range.
  Seconds step() const;
  /// Returns the reported memory; 0 if the source has none.
  Bytes memory() const;

 private:
  const Csv& table_;
  const Csv::Row& row_;
  bool single_;
};

}  // namespace rankwright::validate
