// Goes through the candidates of one node: each is refused by a rule, does not fit, is bounded
// away, or is priced. What is lost by a bound cannot be as fast as what is known already: the
// bounds are what the step takes at least, part by part (cost/step.h).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "rankwright/cluster/calibration.h"
#include "rankwright/search/partial_result.h"
#include "rankwright/search/space.h"
#include "rankwright/search/stage_split_cache.h"

namespace rankwright::search {

/// What explore() looks up and does not change.
struct SearchContext {
  const Problem& problem;
  const cluster::Calibration& calibration;
  Windows windows{};
  Bytes safe{};                             // what takes no more fits whatever the ledger's error
  bool bounds = true;                       // else everything that fits is priced
  std::vector<const rules::Rule*> rules{};  // of the target
  std::function<bool()> stop{};             // as in SearchOptions

  bool stopped() const { return stop && stop(); }
};
SearchContext context(const Problem& problem, const cluster::Calibration& calibration,
                      const Windows& windows);

/// A node that may hold something, with the least that a step takes on it.
struct NodeBound {
  Node node{};
  Seconds min{};
  Seconds priority{};  // the same on the default order of the axes: a guess where to look first
  i64 candidates = 0;
  plan::ConstraintViolation violation{};  // that all its candidates have
};
NodeBound bound_node(const SearchContext& context, const Node& node);

/// What the rest of the space has.
struct Incumbent {
  std::optional<Seconds> best{};   // the fastest that fits
  std::optional<Bytes> leanest{};  // what needs least of those that do not
};
PartialResult explore(const SearchContext& context, const Node& node, const Incumbent& incumbent,
                      StageSplitCache& split_cache);

}  // namespace rankwright::search
