// Collects the results of the search of one node, and decides from them which candidates can be
// pruned.
#pragma once

#include <array>

#include "rankwright/search/explore.h"

namespace rankwright::search {

/// The results of one node so far.
class NodeResult {
 public:
  NodeResult(const SearchContext& context, const Incumbent& incumbent);

  /// Returns the step time above which a candidate can be pruned.
  Seconds limit() const {
    return context_.bounds ? (1 + context_.windows.widest()) * best_ : kInfiniteTime;
  }
  /// Returns whether a plan is known to fit.
  bool has_best() const { return best_ < kInfiniteTime; }
  /// Returns whether candidates that take at least `min` bytes can be skipped: they do not fit and,
  /// if no plan is known to fit, none of them is the leanest.
  bool is_too_large(Bytes min) const {
    return context_.bounds && min > context_.limit && (best_ < kInfiniteTime || min >= leanest_);
  }
  /// Returns whether a candidate that takes at least `min` seconds is neither near the best, nor
  /// the fastest of its family, nor on the Pareto front of time and memory.
  bool can_prune(Seconds min, plan::Recompute recompute, int zero, Bytes memory) const;

  /// Counts a plan that does not fit, and keeps it if it is the leanest and none is known to fit.
  void reject(const plan::Plan& plan, Bytes memory);
  /// Counts a plan that fits, and keeps it if it is within the windows.
  void add(const plan::Plan& plan, Seconds time, Bytes memory);

  SearchStats& stats() { return out_.stats; }
  /// Returns the result. If the search was stopped, all candidates of the node count as undecided.
  PartialResult finish(i64 candidates, bool stopped);

 private:
  bool is_sure(Bytes memory) const { return memory <= context_.safe; }

  const SearchContext& context_;
  Seconds best_;
  Bytes leanest_;
  // The fastest so far by recompute, ZeRO stage and whether it fits at any estimate error.
  std::array<std::array<std::array<Seconds, 2>, 4>, 3> fastest_{};
  PartialResult out_{};
};

}  // namespace rankwright::search
