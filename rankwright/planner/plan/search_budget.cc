#include "rankwright/planner/plan/search_budget.h"

#include <sys/resource.h>

namespace rankwright::planner {
namespace {

i64 peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

SearchWatch::SearchWatch(const SearchBudget& budget, const std::function<bool()>& should_stop)
    : budget_(budget), should_stop_(should_stop), before_(peak_kilobytes()) {}

bool SearchWatch::over_memory() const {
  constexpr i64 kCallsPerQuery = 16;
  if (asked_.fetch_add(1, std::memory_order_relaxed) % kCallsPerQuery != 0) return false;
  return 1024.0 * double(peak_kilobytes() - before_) > budget_.memory.value;
}

bool SearchWatch::stopped() const {
  if (reason_ != StopReason::none) return true;
  const std::chrono::duration<double> taken = Clock::now() - begin_;
  const StopReason now = should_stop_ && should_stop_()       ? StopReason::asked
                         : taken.count() > budget_.time.value ? StopReason::time
                         : over_memory()                      ? StopReason::memory
                                                              : StopReason::none;
  StopReason none = StopReason::none;
  if (now != StopReason::none) reason_.compare_exchange_strong(none, now);
  return now != StopReason::none;
}

}  // namespace rankwright::planner
