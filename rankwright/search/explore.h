// Goes through the candidates of one node: each is refused by a rule, does not fit, is bounded
// away, or is priced. What is lost by a bound cannot be as fast as what is known already: the
// bounds are what the step takes at least, part by part (cost/step.h).
#pragma once

#include <optional>
#include <vector>

#include "rankwright/cluster/calibration.h"
#include "rankwright/search/balance.h"
#include "rankwright/search/candidate.h"
#include "rankwright/search/space.h"

namespace rankwright {

/// How much slower than the best a candidate may be and still be of interest.
struct Windows {
  double near = 0;    // all of these are kept: one of them is the fastest when they are played
  double family = 0;  // the fastest of each family is kept, and the front of time and memory

  double widest() const { return near > family ? near : family; }
};

struct Explored {
  Tally tally{};
  std::optional<Candidate> best{};
  std::vector<Candidate> near{};       // as found
  std::vector<Candidate> families{};   // the fastest of each that fits for sure, and that may not
  std::vector<Candidate> front{};      // nothing is faster and smaller; the fastest first
  std::optional<Candidate> leanest{};  // of those that do not fit the one that needs least

  /// Takes in what another part of the space has; what is then outside the windows goes.
  void merge(Explored&& other, const Windows& windows);
};

/// What explore() looks up and does not change.
struct Ground {
  const Problem& problem;
  const Calibration& calibration;
  Windows windows{};
  Bytes safe{};                      // what takes no more fits whatever the ledger's error
  bool bounds = true;                // else everything that fits is priced
  std::vector<const Rule*> rules{};  // of the target
};
Ground ground(const Problem& problem, const Calibration& calibration, const Windows& windows);

/// A node that may hold something, with the least that a step takes on it.
struct Prospect {
  Node node{};
  Seconds least{};
  Seconds promise{};  // the same on the default order of the axes: a guess where to look first
  i64 candidates = 0;
  Misfit misfit{};  // that all its candidates have
};
Prospect prospect(const Ground& ground, const Node& node);

/// What the rest of the space has.
struct Known {
  std::optional<Seconds> best{};   // the fastest that fits
  std::optional<Bytes> leanest{};  // what needs least of those that do not
};
Explored explore(const Ground& ground, const Node& node, const Known& known, Balance& balance);

}  // namespace rankwright
