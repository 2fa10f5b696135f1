// Things of few kinds into bins, each bin with its own rule of what fits: exact, by the counts of
// all kinds but one that the first bins hold, and the most of the last kind that then fits beside.
#pragma once

#include <functional>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/split/problem.h"

namespace rankwright::split {

struct Packing {
  std::vector<i64> demand{};  // by kind; the last kind is the one that is not enumerated
  std::vector<i64> weight{};  // by kind
  std::vector<i64> room{};    // by bin: weight that it takes at most, to cut the search short
  std::vector<i64> like{};    // by bin: the first bin that takes just the same
  /// The most of the last kind that a bin takes beside so many of the others; -1 where the others
  /// do not fit. What fits less of anything fits too.
  std::function<i64(i64 bin, const std::vector<i64>& others)> max{};
};

struct Packed {
  Probe::Verdict verdict = Probe::Verdict::no;
  /// By bin, with yes: of the last kind the most that fits, in sum the demand or more; of the
  /// others exactly the demand.
  std::vector<std::vector<i64>> taken{};
};

Packed pack(const Packing& packing, Steps& steps);

}  // namespace rankwright::split
