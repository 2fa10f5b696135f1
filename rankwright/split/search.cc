#include "rankwright/split/search.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "rankwright/split/counts.h"
#include "rankwright/split/packing.h"
#include "rankwright/split/units.h"

namespace rankwright::split {
namespace {

using Verdict = Probe::Verdict;

/// The step budget of one probe and of one bound is this fraction of all steps.
constexpr i64 kMaxProbes = 5;
constexpr i64 kMaxBounds = 80;

/// Maximum number of runs for the search by counts: embedding, four runs of layers, MTP modules and
/// head.
constexpr std::size_t kMaxCountedRuns = 7;

/// Maximum items x stages for which a bound looks at every item.
constexpr i64 kMaxInBound = 1 << 16;

/// Items of one kind have the same weight, and the same memory on every team.
using Kinds = std::vector<SplitProblem::Run>;

/// Returns the items between embedding and head, grouped by kind without their order.
Kinds group_kinds(const SplitProblem& problem) {
  Kinds kinds;
  for (std::size_t i = 1; i + 1 < problem.runs.size(); ++i) {
    const SplitProblem::Run& run = problem.runs[i];
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const SplitProblem::Run& kind) {
      return kind.weight == run.weight && kind.memory == run.memory;
    });
    if (same == kinds.end())
      kinds.push_back(run);
    else
      same->count += run.count;
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const auto& a, const auto& b) { return a.count < b.count; });
  return kinds;
}

class LimitSearch {
  /// Calls `ask` with a budget of at most `max` steps, and deducts the steps that it used from
  /// steps_.
  template <class Ask>
  auto within(i64 max, const Ask& ask) {
    const i64 granted = std::clamp<i64>(steps_.left(), 0, max);
    Steps steps(granted);
    auto answer = ask(steps);
    steps_.take(granted - std::max<i64>(0, steps.left()));
    return answer;
  }

 public:
  LimitSearch(const SplitProblem& problem, i64 steps)
      : problem_(problem),
        all_steps_(steps),
        steps_(steps),
        sizes_(problem.ranks.begin(), problem.ranks.end()) {
    // With very many runs there are too many kinds, or grouping them takes too long.
    constexpr std::size_t kMaxRuns = 4096;
    if (problem.runs.size() <= kMaxRuns) kinds_ = group_kinds(problem);
  }

  struct Minimum {
    i64 min = 0;  // proven lower bound
    Cuts cuts{};
    SplitLimits reached{};
    bool proved = false;
  };

  /// Minimizes one limit. Requires: the split `known` keeps the other limits.
  Minimum minimize(i64 SplitLimits::*what, SplitLimits limits, i64 min, const Cuts& known) {
    Minimum best{value_from(what, min), known, reached(problem_, known)};
    const auto at = [&](i64 value) {
      limits.*what = value;
      return limits;
    };
    // Bounds are cheap, so raise the lower bound with them first.
    for (i64 high = best.reached.*what; best.min < high;) {
      const i64 middle = best.min + (high - best.min) / 2;
      if (possible(at(middle)))
        high = middle;
      else
        best.min = value_from(what, middle + 1);
    }
    for (i64 low = best.min, next = low; low < best.reached.*what && !steps_.out();
         next = low + (best.reached.*what - low) / 2) {
      Probe answer = probe(at(next));
      if (answer.verdict == Verdict::yes) {
        best.reached = reached(problem_, answer.cuts);
        best.cuts = std::move(answer.cuts);
        continue;
      }
      low = value_from(what, next + 1);
      if (answer.verdict == Verdict::no) best.min = low;
    }
    best.proved = best.min >= best.reached.*what;
    return best;
  }

  Probe probe(const SplitLimits& limits) {
    const bool chain = problem_.stages() == problem_.teams();
    const bool units = can_split_by_items(problem_);
    Probe answer{Verdict::unknown};
    if (problem_.runs.size() <= kMaxCountedRuns && !(chain && units))
      answer = within(all_steps_ / kMaxProbes,
                      [&](Steps& steps) { return find_split_by_counts(problem_, limits, steps); });
    if (answer.verdict == Verdict::unknown && units)
      answer = within(all_steps_ / kMaxProbes,
                      [&](Steps& steps) { return find_split_by_items(problem_, limits, steps); });
    return answer;
  }

 private:
  /// Returns false only if no split keeps the limits.
  bool possible(const SplitLimits& limits) {
    if (!kinds_.empty() && !packs(limits)) return false;
    return !can_split_by_items(problem_) || problem_.items() * problem_.stages() > kMaxInBound ||
           stages_fit(problem_, limits);
  }

  /// Returns whether the teams could hold all items, if these could be assigned in any order.
  bool packs(const SplitLimits& limits) {
    Packing packing;
    for (const SplitProblem::Run& kind : kinds_) {
      packing.demand.push_back(kind.count);
      packing.weight.push_back(kind.weight);
    }
    std::vector<i64> memory_room;
    for (i64 team = 0; team < problem_.teams(); ++team) {
      packing.room.push_back(limits.of_team(problem_, team));
      memory_room.push_back(limits.memory);
    }
    const auto put = [&](const SplitProblem::Run& run, i64 stage) {
      const std::size_t team = std::size_t(problem_.team_of_stage[std::size_t(stage)]);
      if (packing.room[team] != kNoLimit) packing.room[team] -= run.weight;
      if (limits.memory != kNoLimit) memory_room[team] -= run.memory[team];
      return packing.room[team] >= 0 && memory_room[team] >= 0;
    };
    if (!put(problem_.runs.front(), 0) || !put(problem_.runs.back(), problem_.stages() - 1))
      return false;
    for (std::size_t t = 0; t < memory_room.size(); ++t)
      packing.like.push_back(t > 0 && like_before(t, packing, memory_room) ? packing.like.back()
                                                                           : i64(t));
    packing.max = [&](i64 bin, const std::vector<i64>& others) {
      i64 max = kinds_.back().count;
      const auto fit = [&](i64 room, const auto& of) {
        if (room == kNoLimit) return;
        for (std::size_t k = 0; k < others.size(); ++k) room -= others[k] * of(kinds_[k]);
        const i64 each = of(kinds_.back());
        max = std::min(max, room < 0 ? -1 : each > 0 ? room / each : max);
      };
      fit(packing.room[std::size_t(bin)], [](const auto& kind) { return kind.weight; });
      fit(memory_room[std::size_t(bin)],
          [&](const auto& kind) { return kind.memory[std::size_t(bin)]; });
      return max;
    };
    return within(all_steps_ / kMaxBounds,
                  [&](Steps& steps) { return pack(packing, steps).verdict; }) != Verdict::no;
  }

  bool like_before(std::size_t team, const Packing& packing,
                   const std::vector<i64>& memory_room) const {
    const auto same = [&](const SplitProblem::Run& kind) {
      return kind.memory.empty() || kind.memory[team] == kind.memory[team - 1];
    };
    return packing.room[team] == packing.room[team - 1] &&
           memory_room[team] == memory_room[team - 1] &&
           std::all_of(kinds_.begin(), kinds_.end(), same);
  }

  /// Returns the smallest sum of item weights that is at least `min`, in any order of items: values
  /// between need not be tried.
  i64 weight_from(i64 min) const {
    constexpr i64 kMaxSums = 1 << 15;
    i64 sums = 4;
    for (std::size_t k = 0; k + 1 < kinds_.size(); ++k)
      sums = std::min(kMaxSums + 1, sums * std::min(kMaxSums, kinds_[k].count + 1));
    if (kinds_.empty() || sums > kMaxSums) return min;
    i64 best = kNoLimit;
    const i64 front = problem_.runs.front().weight, back = problem_.runs.back().weight;
    for (const i64 edge : {i64{0}, front, back, front + back}) add_kind(0, edge, min, best);
    return best;
  }

  void add_kind(std::size_t kind, i64 sum, i64 min, i64& best) const {
    const auto& [count, weight, memory] = kinds_[kind];
    if (kind + 1 == kinds_.size()) {
      const i64 need = std::max<i64>(0, min - sum);
      const i64 items = weight == 0 ? (need > 0 ? count + 1 : 0) : ceil_div(need, weight);
      if (items <= count) best = std::min(best, sum + items * weight);
      return;
    }
    for (i64 n = 0; n <= count; ++n) add_kind(kind + 1, sum + n * weight, min, best);
  }

  /// Returns the smallest value from `min` on that a limit can take.
  i64 value_from(i64 SplitLimits::*what, i64 min) const {
    if (what == &SplitLimits::memory) return min;
    if (what == &SplitLimits::stage) return weight_from(min);
    i64 best = kNoLimit;
    for (const i64 ranks : sizes_) {
      const i64 weight = weight_from(ceil_div(min * ranks, problem_.parts));
      if (weight != kNoLimit) best = std::min(best, weight * (problem_.parts / ranks));
    }
    return best;
  }

  const SplitProblem& problem_;
  const i64 all_steps_;
  Steps steps_;
  std::set<i64> sizes_;  // distinct team sizes
  Kinds kinds_{};
};

}  // namespace

BestCuts find_best_cuts(const SplitProblem& problem, i64 capacity, i64 steps) {
  LimitSearch search(problem, steps);
  Cuts known = compute_ideal_cuts(problem);
  SplitLimits limits{.memory = capacity};
  if (reached(problem, known).memory > capacity) {
    Probe fitting = search.probe(limits);
    if (fitting.verdict == Verdict::yes) {
      known = std::move(fitting.cuts);
    } else {
      const LimitSearch::Minimum min = search.minimize(&SplitLimits::memory, {}, 0, known);
      if (min.reached.memory > capacity) return {.reached = min.reached, .proved = min.proved};
      known = min.cuts;
    }
  }
  const i64 weight = problem.weight();
  const i64 ranks = std::accumulate(problem.ranks.begin(), problem.ranks.end(), i64{0});
  i64 heaviest = 0;
  for (const SplitProblem::Run& run : problem.runs) heaviest = std::max(heaviest, run.weight);
  const LimitSearch::Minimum load =
      search.minimize(&SplitLimits::load, limits, ceil_div(weight * problem.parts, ranks), known);
  limits.load = load.reached.load;
  const LimitSearch::Minimum stage =
      search.minimize(&SplitLimits::stage, limits,
                      std::max(heaviest, ceil_div(weight, problem.stages())), load.cuts);
  return {.cuts = stage.cuts,
          .reached = stage.reached,
          .min_load = load.min,
          .proved = load.proved && stage.proved};
}

}  // namespace rankwright::split
