// Limits the time and the memory of a search. A search that exceeds them answers with the best plan
// so far and states the reason.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

#include "rankwright/base/integer.h"
#include "rankwright/base/units.h"

namespace rankwright::planner {

/// The limits of a search.
struct SearchBudget {
  Seconds time{600};
  Bytes memory{4.0 * 1024 * 1024 * 1024};  // growth of the process

  friend bool operator==(const SearchBudget&, const SearchBudget&) = default;
};

/// Why a search ended.
enum class StopReason : unsigned char {
  none,    // the search is complete
  asked,   // the caller asked to stop
  time,    // the time limit is reached
  memory,  // the memory limit is reached
};

/// Watches the limits of one request. Thread-safe, and cheap enough to call many times per second.
class SearchWatch {
 public:
  SearchWatch(const SearchBudget& budget, const std::function<bool()>& should_stop);

  /// Returns whether the search must end. Once true, stays true.
  bool stopped() const;
  StopReason reason() const { return reason_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool over_memory() const;

  SearchBudget budget_;
  const std::function<bool()>& should_stop_;
  Clock::time_point begin_ = Clock::now();
  i64 before_;  // peak memory of the process at the start, in kB
  mutable std::atomic<StopReason> reason_{StopReason::none};
  mutable std::atomic<i64> asked_{0};  // calls so far: the system is queried only on every 16th
};

}  // namespace rankwright::planner
