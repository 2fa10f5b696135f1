#include "rankwright/cost/memory/verdict.h"

#include <array>
#include <limits>

namespace rankwright::cost {

// M26. The band holds predicted / measured - 1, so a measurement lies between total / (1 + within)
// and total / (1 - within): the plan fits at every error up to (1 - within) x capacity, and at none
// above (1 + within) x capacity.
Bytes max_total(MemoryVerdict verdict, Bytes capacity, double within) {
  switch (verdict) {
    case MemoryVerdict::fits_with_margin:
      return (1 - within) * capacity;
    case MemoryVerdict::tight:
      return capacity;
    case MemoryVerdict::over_within_error:
      return (1 + within) * capacity;
    case MemoryVerdict::does_not_fit:
      break;
  }
  return Bytes{std::numeric_limits<double>::infinity()};
}

MemoryVerdict judge_memory(Bytes total, Bytes capacity, double within) {
  for (const MemoryVerdict verdict :
       {MemoryVerdict::fits_with_margin, MemoryVerdict::tight, MemoryVerdict::over_within_error})
    if (total <= max_total(verdict, capacity, within)) return verdict;
  return MemoryVerdict::does_not_fit;
}

std::string_view name(MemoryVerdict verdict) {
  constexpr std::array<std::string_view, 4> kNames = {
      "fits with margin", "tight", "over, within estimate error", "does not fit"};
  return kNames[std::size_t(verdict)];
}

}  // namespace rankwright::cost
