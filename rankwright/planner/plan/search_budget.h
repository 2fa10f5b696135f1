// How long a search may take and how much memory it may use before it answers with the best plan so
// far, and why it ended before everything was looked at.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

#include "rankwright/base/integer.h"
#include "rankwright/base/units.h"

namespace rankwright::planner {

struct SearchBudget {
  Seconds time{600};
  Bytes memory{4.0 * 1024 * 1024 * 1024};  // that the process may grow by

  friend bool operator==(const SearchBudget&, const SearchBudget&) = default;
};

enum class StopReason : unsigned char {
  none,    // the search was complete
  asked,   // the caller wanted to stop
  time,    // the budget's time is used up
  memory,  // the budget's memory is used up
};

/// Watches one request. Any thread may ask it, many times per second.
class SearchWatch {
 public:
  SearchWatch(const SearchBudget& budget, const std::function<bool()>& should_stop);

  /// Returns whether the search has to end. Once true, stays true.
  bool stopped() const;
  StopReason reason() const { return reason_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool over_memory() const;

  SearchBudget budget_;
  const std::function<bool()>& should_stop_;
  Clock::time_point begin_ = Clock::now();
  i64 before_;  // kB of memory that the process had used at its peak
  mutable std::atomic<StopReason> reason_{StopReason::none};
  mutable std::atomic<i64> asked_{0};  // how often, so that the system is asked less often
};

}  // namespace rankwright::planner
