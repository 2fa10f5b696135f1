#include "rankwright/search/node_result.h"

#include <utility>

namespace rankwright::search {

NodeResult::NodeResult(const SearchContext& context, const Incumbent& incumbent)
    : context_(context),
      best_(incumbent.best.value_or(kInfiniteTime)),
      leanest_(incumbent.leanest.value_or(kInfiniteBytes)) {
  for (auto& by_zero : fastest_)
    for (auto& by_sureness : by_zero) by_sureness.fill(kInfiniteTime);
}

bool NodeResult::can_prune(Seconds min, plan::Recompute recompute, int zero, Bytes memory) const {
  if (!context_.bounds) return false;
  if (min > limit()) return true;
  const Seconds fastest =
      fastest_[std::size_t(recompute)][std::size_t(zero)][is_sure(memory) ? 1 : 0];
  return min > (1 + context_.windows.near) * best_ && min >= fastest &&
         is_covered(out_.front, min, memory);
}

void NodeResult::reject(const plan::Plan& plan, Bytes memory) {
  ++out_.stats.memory;
  if (best_ < kInfiniteTime || memory >= leanest_) return;
  leanest_ = memory;
  out_.leanest = {plan, {}, memory};
}

void NodeResult::add(const plan::Plan& plan, Seconds time, Bytes memory) {
  ++out_.stats.evaluated;
  if (time > limit()) return;
  const Windows& windows = context_.windows;
  const Candidate one{plan, time, memory, is_sure(memory)};
  if (time < best_) best_ = time;
  if (!out_.best || time < out_.best->time) out_.best = one;
  if (time <= (1 + windows.near) * best_) out_.near.push_back(one);
  if (time > (1 + windows.family) * best_) return;
  add_to_front(out_.front, one);
  Seconds& fastest =
      fastest_[std::size_t(plan.recompute)][std::size_t(plan.zero)][one.sure ? 1 : 0];
  if (time >= fastest) return;
  fastest = time;
  out_.families.push_back(one);
}

PartialResult NodeResult::finish(i64 candidates, bool stopped) {
  keep_families(out_.families);
  if (stopped) {
    out_.stats = {};
    out_.undecided = candidates;
  } else {
    out_.stats.candidates = candidates;
  }
  return std::move(out_);
}

}  // namespace rankwright::search
