#include "rankwright/split/problem.h"

#include <algorithm>

namespace rankwright::split {

i64 SplitProblem::items() const {
  i64 sum = 0;
  for (const Run& run : runs) sum += run.count;
  return sum;
}

i64 SplitProblem::weight() const {
  i64 sum = 0;
  for (const Run& run : runs) sum += run.count * run.weight;
  return sum;
}

i64 SplitLimits::of_team(const SplitProblem& problem, i64 team) const {
  if (load == kNoLimit) return kNoLimit;
  return load * problem.ranks[std::size_t(team)] / problem.parts;
}

SplitLimits reached(const SplitProblem& problem, const Cuts& cuts) {
  SplitLimits max{0, 0, 0};
  std::vector<i64> load(problem.ranks.size()), memory(problem.ranks.size());
  std::size_t run = 0;
  i64 run_end = problem.runs.front().count, at = 0;
  for (std::size_t s = 0; s < cuts.size(); ++s) {
    const std::size_t team = std::size_t(problem.team_of_stage[s]);
    i64 stage = 0;
    while (at < cuts[s]) {
      for (; at == run_end; run_end += problem.runs[run].count) ++run;
      const i64 count = std::min(run_end, cuts[s]) - at;
      stage += count * problem.runs[run].weight;
      if (problem.limited) memory[team] += count * problem.runs[run].memory[team];
      at += count;
    }
    load[team] += stage;
    max.stage = std::max(max.stage, stage);
  }
  for (std::size_t t = 0; t < load.size(); ++t) {
    max.load = std::max(max.load, load[t] * (problem.parts / problem.ranks[t]));
    max.memory = std::max(max.memory, memory[t]);
  }
  return max;
}

Cuts compute_ideal_cuts(const SplitProblem& problem) {
  const i64 stages = problem.stages(), items = problem.items(), weight = problem.weight();
  Cuts cuts;
  std::size_t run = 0;
  i64 before = 0;  // items before the run
  double weight_before = 0;
  for (i64 s = 1; s < stages; ++s) {
    // If all weights are 0, count items instead.
    const double share = double(weight > 0 ? weight : items) * double(s) / double(stages);
    const auto each = [&] { return weight > 0 ? double(problem.runs[run].weight) : 1.0; };
    for (; run + 1 < problem.runs.size(); ++run) {
      const double whole = double(problem.runs[run].count) * each();
      if (weight_before + whole > share) break;
      weight_before += whole;
      before += problem.runs[run].count;
    }
    const i64 inside = each() > 0 ? i64((share - weight_before) / each()) : 0;
    // Leave at least one item for every stage before and after.
    const i64 first = cuts.empty() ? 1 : cuts.back() + 1;
    cuts.push_back(std::clamp(before + inside, first, items - (stages - s)));
  }
  cuts.push_back(items);
  return cuts;
}

}  // namespace rankwright::split
