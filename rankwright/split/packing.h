// Packs items of a few kinds into bins, where each bin has its own rule of what fits. Exact: a
// dynamic program over the counts of all kinds but the last, which keeps the maximum of the last
// kind that still fits.
#pragma once

#include <functional>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/split/problem.h"

namespace rankwright::split {

/// Items to pack and bins to pack them into.
struct Packing {
  std::vector<i64> demand{};  // by kind; the last kind is not enumerated
  std::vector<i64> weight{};  // by kind
  std::vector<i64> room{};    // by bin: maximum weight, to prune the search
  std::vector<i64> like{};    // by bin: the first bin with the same rule
  /// Returns the maximum count of the last kind that fits into a bin with these counts of the
  /// others; -1 if the others do not fit. Monotonic: fewer items of any kind still fit.
  std::function<i64(i64 bin, const std::vector<i64>& others)> max{};
};

/// The result of packing.
struct Packed {
  Probe::Verdict verdict = Probe::Verdict::no;
  /// By bin, if the verdict is yes: exactly the demand of the enumerated kinds; of the last kind
  /// the maximum that fits, so their sum may exceed the demand.
  std::vector<std::vector<i64>> taken{};
};

/// Packs all items, or proves that they do not fit; unknown if the steps run out.
Packed pack(const Packing& packing, Steps& steps);

}  // namespace rankwright::split
