// What is kept of the candidates of a part of the space, and how two parts are put together: the
// best, all that are near it, the fastest of each family, the front of time and memory.
#pragma once

#include <optional>
#include <vector>

#include "rankwright/search/candidate.h"

namespace rankwright::search {

/// How much slower than the best a candidate may be and still be of interest.
struct Windows {
  double near = 0;    // all of these are kept: one of them is the fastest when they are simulated
  double family = 0;  // the fastest of each family is kept, and the front of time and memory

  double widest() const { return near > family ? near : family; }
};

struct PartialResult {
  SearchStats stats{};
  i64 undecided = 0;  // candidates of nodes at which the search was stopped; not in the tally
  std::optional<Candidate> best{};
  std::vector<Candidate> near{};       // as found
  std::vector<Candidate> families{};   // the fastest of each that fits for sure, and that may not
  std::vector<Candidate> front{};      // nothing is faster and smaller; the fastest first
  std::optional<Candidate> leanest{};  // of those that do not fit the one that needs least

  /// Takes in what another part of the space has; what is then outside the windows goes.
  void merge(PartialResult&& other, const Windows& windows);
};

/// Something in a front is as fast and as small.
bool covered(const std::vector<Candidate>& front, Seconds time, Bytes memory);
void add_to_front(std::vector<Candidate>& front, const Candidate& one);

/// The fastest of each family that fits for sure, and that may not.
void keep_families(std::vector<Candidate>& all);

}  // namespace rankwright::search
