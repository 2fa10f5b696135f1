// Goes through the candidates of one node: each is refused by a rule, does not fit, is bounded
// away, or is priced. What is lost by a bound cannot be as fast as what is known already: the
// bounds are what the step takes at least, part by part (cost/step.h).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "rankwright/cluster/calibration.h"
#include "rankwright/search/balance.h"
#include "rankwright/search/explored.h"
#include "rankwright/search/space.h"

namespace rankwright {

/// What explore() looks up and does not change.
struct Ground {
  const Problem& problem;
  const Calibration& calibration;
  Windows windows{};
  Bytes safe{};                      // what takes no more fits whatever the ledger's error
  bool bounds = true;                // else everything that fits is priced
  std::vector<const Rule*> rules{};  // of the target
  std::function<bool()> stop{};      // as in SearchOptions

  bool stopped() const { return stop && stop(); }
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
