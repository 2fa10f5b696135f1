// The relative error of two predictions: errors that two plans have in common cancel when one is
// chosen over the other (formula V7). Takes groups of comparable runs, which score.h forms.
#pragma once

#include <vector>

#include "rankwright/base/integer.h"

namespace rankwright::validate {

/// Statistics over the relative errors of pairs of runs.
struct PairErrors {
  i64 pairs = 0, groups = 0;  // groups of at least two runs
  double median = 0;          // weighted median; every group weighs the same
  double p90 = 0;             // weighted 90th percentile

  friend bool operator==(const PairErrors&, const PairErrors&) = default;
};

/// Computes the statistics from ln(predicted / measured) of the runs of each group. The error of a
/// pair is e^|difference| - 1, and its weight is 1 / (pairs in its group). Pairs are not listed, so
/// groups may be large.
PairErrors compute_pair_errors(std::vector<std::vector<double>> groups);

}  // namespace rankwright::validate
