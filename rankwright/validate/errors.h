// How far predictions are off, over some rows: the figures that every table of validate has. An
// error is predicted / measured - 1. Formula V2.
#pragma once

#include <vector>

#include "rankwright/base/integer.h"

namespace rankwright::validate {

struct ErrorStats {
  i64 rows = 0;
  double mean_absolute = 0;
  double bias = 0;
  double p90 = 0;    // nine tenths are no farther off
  double worst = 0;  // with its sign

  friend bool operator==(const ErrorStats&, const ErrorStats&) = default;
};
ErrorStats error_stats(std::vector<double> errors);

}  // namespace rankwright::validate
