// One row of a table of runs, by column: what a blank cell stands for in vTrain's single-node
// table, and which numbers cannot be. What a row means for a TrainingConfig is run_setup.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rankwright/base/csv.h"
#include "rankwright/base/integer.h"
#include "rankwright/base/units.h"

namespace rankwright::validate {

class RunRow {
 public:
  RunRow(const Csv& table, const Csv::Row& row, bool single)
      : table_(table), row_(row), single_(single) {}

  /// Of vTrain's single-node table.
  bool single() const { return single_; }
  std::string_view text(std::string_view column) const;
  /// Nothing for a blank cell, and for words: "NA".
  std::optional<double> number(std::string_view column) const;
  /// The same of whole numbers from `least` on.
  std::optional<i64> whole(std::string_view column, i64 min = 1) const;
  i64 whole_or(std::string_view column, i64 otherwise) const;

  /// The first number that cannot be, in words: "heads is 0: from 1 to 65,536 are read"; empty
  /// where all can.
  std::string out_of_bounds() const;
  /// The first thing that a prediction needs and the row has not: "no global batch".
  std::string lacking() const;

  /// As printed, or from tokens a second; 0 where the source has neither, or one that cannot be.
  Seconds step() const;
  Bytes memory() const;  // 0 where the source has none

 private:
  const Csv& table_;
  const Csv::Row& row_;
  bool single_;
};

}  // namespace rankwright::validate
