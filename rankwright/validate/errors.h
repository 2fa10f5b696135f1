// Error statistics over rows of predictions, as in all tables of `rankwright validate`. An error is
// predicted / measured - 1. Formula V2.
#pragma once

#include <vector>

#include "rankwright/base/integer.h"

namespace rankwright::validate {

/// Statistics over the errors of some rows.
struct ErrorStats {
  i64 rows = 0;
  double mean_absolute = 0;
  double bias = 0;
  double p90 = 0;    // nine tenths of the absolute errors are at most this
  double worst = 0;  // the largest by absolute value, with its sign

  friend bool operator==(const ErrorStats&, const ErrorStats&) = default;
};

/// Computes the statistics of a list of errors.
ErrorStats compute_error_stats(std::vector<double> errors);

}  // namespace rankwright::validate
