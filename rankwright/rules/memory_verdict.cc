#include "rankwright/rules/memory_verdict.h"

#include <fmt/format.h>

#include <cmath>

#include "rankwright/base/format.h"

namespace rankwright::rules {

std::string describe_memory_verdict(Bytes total, Bytes capacity, const cost::ErrorBand& band) {
  const std::string free = show_memory(capacity - total), over = show_memory(total - capacity);
  const std::string error =
      fmt::format("the ±{} estimate error", percent(std::round(100 * band.within) / 100));
  const cost::MemoryVerdict verdict = cost::judge_memory(total, capacity, band.within);
  switch (verdict) {
    case cost::MemoryVerdict::fits_with_margin:
      return fmt::format("{}: {} free, more than {}", name(verdict), free, error);
    case cost::MemoryVerdict::tight:
      return fmt::format("{}: {} free, less than {}", name(verdict), free, error);
    case cost::MemoryVerdict::over_within_error:
      return fmt::format("over by {}, within {}", over, error);
    case cost::MemoryVerdict::does_not_fit:
      break;
  }
  return fmt::format("{}: over by {}", name(verdict), over);
}

std::string describe_memory_verdict(const cost::Estimate& e) {
  return describe_memory_verdict(e.memory.total(), e.capacity, e.memory_band);
}

std::string state_memory_verdict(const cost::Estimate& e) {
  return (sure(e.verdict()) ? "" : "is ") + describe_memory_verdict(e);
}

}  // namespace rankwright::rules
