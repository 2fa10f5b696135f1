// The verdict on memory: whether an estimate fits in a device, given the error of estimates. One
// function gives it, and every verb, rule and search asks that function. Formula M26.
#pragma once

#include <string_view>

#include "rankwright/base/units.h"

namespace rankwright::cost {

/// Whether a plan fits in memory, best first.
enum class MemoryVerdict : unsigned char {
  fits_with_margin,   // fits at every error within the band
  tight,              // the estimate fits, but not at every error within the band
  over_within_error,  // the estimate does not fit, but it would at some error within the band
  does_not_fit,       // does not fit at any error within the band
};

/// Returns the verdict on a rank that needs `total` of `capacity`, if estimates are within
/// +-`within` of measurements (M26).
MemoryVerdict judge_memory(Bytes total, Bytes capacity, double within);

/// Returns the largest total that has this verdict or a better one; infinite for does_not_fit.
Bytes max_total(MemoryVerdict verdict, Bytes capacity, double within);

/// Returns "fits with margin", "tight", "over, within estimate error" or "does not fit".
std::string_view name(MemoryVerdict verdict);

/// Returns whether the estimate itself is at most the capacity.
constexpr bool fits(MemoryVerdict verdict) { return verdict <= MemoryVerdict::tight; }

/// Returns whether the verdict is the same at every error within the band.
constexpr bool sure(MemoryVerdict verdict) {
  return verdict == MemoryVerdict::fits_with_margin || verdict == MemoryVerdict::does_not_fit;
}

}  // namespace rankwright::cost
