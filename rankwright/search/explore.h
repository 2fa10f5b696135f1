// Searches the candidates of one node: each is rejected by a rule, does not fit, is pruned by a
// lower bound, or is evaluated. A pruned candidate cannot be as fast as the incumbent.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "rankwright/cluster/calibration.h"
#include "rankwright/cost/step.h"
#include "rankwright/search/partial_result.h"
#include "rankwright/search/space.h"
#include "rankwright/search/stage_split_cache.h"

namespace rankwright::search {

/// The input of a search, shared by all nodes and never changed.
struct SearchContext {
  const Problem& problem;
  const cluster::Calibration& calibration;
  Windows windows{};
  cost::Overheads overheads{};
  Bytes limit{};                            // a plan that takes more does not fit
  Bytes safe{};                             // a plan that takes no more fits at any estimate error
  bool bounds = true;                       // false: evaluate everything that fits
  std::vector<const rules::Rule*> rules{};  // of the target, without those below
  std::vector<const rules::Rule*> order_rules{};     // that depend on the axis order
  std::vector<const rules::Rule*> pipeline_rules{};  // that depend on schedule or even stages
  std::vector<const rules::Rule*> sequence_rules{};  // on sequence parallelism alone
  std::vector<const rules::Rule*> zero_rules{};      // on the ZeRO stage alone
  std::function<bool()> stop{};                      // as in SearchOptions

  bool stopped() const { return stop && stop(); }
};
/// Makes the context of a search with bounds and without a stop callback.
SearchContext make_context(const Problem& problem, const cluster::Calibration& calibration,
                           const Windows& windows);

/// A node with a lower bound of its step time.
struct NodeBound {
  Node node{};
  Seconds min{};
  Seconds priority{};  // a guess of the step time; nodes with a low one are searched first
  i64 candidates = 0;
  plan::ConstraintViolation violation{};  // of all its candidates
  std::size_t fitting = 0;  // microbatch sizes that may fit: the first of list_micro_batches()
};
/// Computes the bound of a node. `min` is infinite if it has a violation or if nothing can fit.
NodeBound bound_node(const SearchContext& context, const Node& node);

/// The best plans found so far in the rest of the space.
struct Incumbent {
  std::optional<Seconds> best{};   // step time of the fastest plan that fits
  std::optional<Bytes> leanest{};  // memory of the smallest plan that does not fit; 0: not asked
};

/// Searches all candidates of a node. `fitting` is NodeBound::fitting, or nothing if it is not
/// known. Thread-safe.
PartialResult explore(const SearchContext& context, const Node& node, const Incumbent& incumbent,
                      StageSplitCache& split_cache, std::optional<std::size_t> fitting = {});

}  // namespace rankwright::search
