// How far the predictions of two plans are off against each other: what their errors have in common
// cancels when one is chosen over the other. Groups of runs in, figures out; which runs make a
// group is score.h. Formula V7.
#pragma once

#include <vector>

#include "rankwright/base/integer.h"

namespace rankwright::validate {

struct PairErrors {
  i64 pairs = 0, groups = 0;  // groups of two and more
  double median = 0;          // half of the pairs are no farther off, a group counting once
  double p90 = 0;             // nine tenths are not

  friend bool operator==(const PairErrors&, const PairErrors&) = default;
};

/// Of each group ln(predicted / measured) of its runs. A pair is off by e^|difference| - 1, and
/// weighs 1 / pairs of its group. No pair is written down, so groups may be large.
PairErrors pair_errors(std::vector<std::vector<double>> groups);

}  // namespace rankwright::validate
