// Collects what the search of one node finds, and decides from it which candidates can still
// matter.
#pragma once

#include <array>

#include "rankwright/search/explore.h"

namespace rankwright::search {

class NodeResult {
 public:
  NodeResult(const SearchContext& context, const Incumbent& incumbent);

  /// Step time above which a candidate is of no interest.
  Seconds limit() const {
    return context_.bounds ? (1 + context_.windows.widest()) * best_ : kInfiniteTime;
  }
  /// Returns whether candidates that take at least `min` do not fit, and are not the leanest either
  /// where nothing is known to fit.
  bool is_too_large(Bytes min) const {
    return context_.bounds && min > context_.problem.capacity &&
           (best_ < kInfiniteTime || min >= leanest_);
  }
  /// Returns whether a candidate that takes at least `min` is neither near the best, nor the
  /// fastest of its family, nor on the front of time and memory.
  bool can_prune(Seconds min, plan::Recompute recompute, int zero, Bytes memory) const;

  /// Counts a plan that does not fit, and keeps it if none needs less.
  void reject(const plan::Plan& plan, Bytes memory);
  /// Counts a plan that fits, and keeps it if it is of interest.
  void add(const plan::Plan& plan, Seconds time, Bytes memory);

  SearchStats& stats() { return out_.stats; }
  /// Returns the result. Stopped early, none of the node's candidates counts as decided.
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
