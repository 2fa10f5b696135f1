// The result of a part of the search space, and how to merge two of them: the best candidate, those
// near it, the fastest of each family, and the Pareto front of step time and memory.
#pragma once

#include <optional>
#include <vector>

#include "rankwright/search/candidate.h"

namespace rankwright::search {

/// How much slower than the best a candidate may be and still be kept, as a fraction.
struct Windows {
  double near = 0;    // all are kept: any may be the fastest once simulated
  double family = 0;  // the fastest of each family and the front are kept

  double widest() const { return near > family ? near : family; }
};

/// The result of a part of the search space.
struct PartialResult {
  SearchStats stats{};
  i64 undecided = 0;  // candidates of nodes at which the search was stopped; not in `stats`
  std::optional<Candidate> best{};
  std::vector<Candidate> near{};       // in the order found
  std::vector<Candidate> families{};   // the fastest of each, with margin and without
  std::vector<Candidate> front{};      // Pareto front of time and memory, fastest first
  std::optional<Candidate> leanest{};  // the smallest found that does not fit

  /// Adds the result of another part, and drops candidates that are then outside the windows.
  void merge(PartialResult&& other, const Windows& windows);
};

/// Returns whether a candidate of the front is at least as fast and as small.
bool is_covered(const std::vector<Candidate>& front, Seconds time, Bytes memory);
/// Adds a candidate unless it is covered, and drops those that it covers.
void add_to_front(std::vector<Candidate>& front, const Candidate& one);

/// Keeps, per family, the fastest candidate that fits with margin and the fastest without.
void keep_families(std::vector<Candidate>& all);

}  // namespace rankwright::search
