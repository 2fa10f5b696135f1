// Error statistics over rows of predictions, as in all tables of `rankwright validate`. An error is
// predicted / measured - 1. Formula V2.
#pragma once

#include <string>
#include <vector>

#include "rankwright/base/integer.h"

namespace rankwright::validate {

/// The error of one row.
struct Error {
  std::string id{};
  double value = 0;
};

/// Statistics over the errors of some rows, or over the statistics of some families.
struct ErrorStats {
  i64 rows = 0;
  double mean_absolute = 0;
  double bias = 0;
  double p90 = 0;    // nine tenths of the absolute errors are at most this
  double worst = 0;  // the largest by absolute value, with its sign
  std::string name{}, worst_id{};

  friend bool operator==(const ErrorStats&, const ErrorStats&) = default;
};

/// Computes the statistics of a list of errors; they have no name and no ID.
ErrorStats compute_error_stats(std::vector<double> errors);

/// Computes the statistics of the errors of rows; of rows with the same absolute error, the first
/// is the worst.
ErrorStats compute_error_stats(std::string name, const std::vector<Error>& errors);

/// Averages the statistics of families, which all weigh the same: `rows` counts families, and
/// `worst` is the largest mean absolute error of a family.
ErrorStats average_families(std::string name, const std::vector<ErrorStats>& families);

}  // namespace rankwright::validate
