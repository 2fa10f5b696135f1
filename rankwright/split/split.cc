#include "rankwright/split/split.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rankwright/base/check.h"
#include "rankwright/split/problem.h"
#include "rankwright/split/search.h"

namespace rankwright::split {
namespace {

/// Converts quantities with the sum `total` to integers: first to up to 2^48 units of the total, so
/// that integers stay exact; then divided by their greatest common divisor.
class Scale {
 public:
  explicit Scale(double total) {
    RW_CHECK(std::isfinite(total) && total >= 0);
    constexpr int kBits = 48;
    int exponent = 0;
    if (total > 0) std::frexp(total, &exponent);
    shift_ = kBits - exponent;
  }
  i64 units(double quantity) const {
    RW_CHECK(quantity >= 0);  // false for NaN
    return std::llround(std::ldexp(quantity, shift_));
  }
  void measure(double quantity) { multiple_ = std::gcd(multiple_, units(quantity)); }

  i64 whole(double quantity) const { return units(quantity) / std::max<i64>(multiple_, 1); }
  /// Converts a limit. No quantity reaches 2^50 units, so larger limits are clamped.
  i64 limit(double quantity) const {
    RW_CHECK(quantity >= 0);
    const double units = std::min(std::ldexp(quantity, shift_), std::ldexp(1.0, 50));
    return i64(units) / std::max<i64>(multiple_, 1);
  }
  double back(double whole) const { return std::ldexp(whole * double(multiple_), -shift_); }

 private:
  int shift_ = 0;
  i64 multiple_ = 0;
};

/// Returns the items in order. MTP modules that must stay together are one item.
std::vector<ItemRun> list_items(const SplitTask& task) {
  std::vector<ItemRun> runs{{1, task.embedding}};
  for (const ItemRun& run : task.layers) {
    RW_CHECK(run.count >= 0);
    if (run.count > 0) runs.push_back(run);
  }
  const i64 n = task.mtp_modules;
  RW_CHECK(n >= 0);
  if (n > 0 && task.mtp_apart) runs.push_back({n, task.mtp});
  if (n > 0 && !task.mtp_apart)
    runs.push_back(
        {1, {double(n) * task.mtp.weight, n * task.mtp.states, n * task.mtp.activations}});
  runs.push_back({1, task.head});
  return runs;
}

double held(const ItemCost& cost, double in_flight) {
  return cost.states.value + in_flight * cost.activations.value;
}

/// By team: the maximum number of microbatches in flight on one of its ranks, and its number of
/// ranks.
struct Teams {
  std::vector<double> in_flight{};
  std::vector<i64> ranks{};
};

Teams make_teams(const SplitTask& task) {
  const StageMap& map = task.map;
  RW_CHECK(!map.team_of_stage.empty() && !map.team_of_rank.empty());
  const i64 last = *std::max_element(map.team_of_rank.begin(), map.team_of_rank.end());
  Teams teams{std::vector<double>(std::size_t(last) + 1), std::vector<i64>(std::size_t(last) + 1)};
  RW_CHECK(!task.capacity || task.in_flight.size() == map.team_of_rank.size());
  for (std::size_t r = 0; r < map.team_of_rank.size(); ++r) {
    RW_CHECK(map.team_of_rank[r] >= 0);
    const std::size_t team = std::size_t(map.team_of_rank[r]);
    ++teams.ranks[team];
    if (!task.capacity) continue;
    RW_CHECK(task.in_flight[r] >= 0);
    teams.in_flight[team] = std::max(teams.in_flight[team], task.in_flight[r]);
  }
  std::vector<bool> has_stage(teams.ranks.size());
  for (const i64 team : map.team_of_stage) {
    RW_CHECK(team >= 0 && team <= last);
    has_stage[std::size_t(team)] = true;
  }
  RW_CHECK(std::find(has_stage.begin(), has_stage.end(), false) == has_stage.end());
  return teams;
}

struct Scales {
  Scale weight, bytes;
};

Scales make_scales(const SplitTask& task, const std::vector<ItemRun>& runs, const Teams& teams) {
  const double max = *std::max_element(teams.in_flight.begin(), teams.in_flight.end());
  double weight = 0, bytes = 0;
  for (const ItemRun& run : runs) {
    RW_CHECK(run.each.states >= Bytes{} && run.each.activations >= Bytes{});
    weight += double(run.count) * run.each.weight;
    bytes += double(run.count) * held(run.each, max);
  }
  Scales scales{Scale(weight), Scale(bytes)};
  for (const ItemRun& run : runs) {
    scales.weight.measure(run.each.weight);
    if (!task.capacity) continue;
    for (const double in_flight : teams.in_flight) scales.bytes.measure(held(run.each, in_flight));
  }
  return scales;
}

SplitProblem make_problem(const SplitTask& task, const std::vector<ItemRun>& runs,
                          const Teams& teams, const Scales& scales) {
  SplitProblem problem{.team_of_stage = task.map.team_of_stage,
                       .ranks = teams.ranks,
                       .limited = task.capacity.has_value()};
  constexpr i64 kMaxRanks = 8;  // per team, so that weights in parts fit in 64 bits
  for (const i64 ranks : teams.ranks) {
    RW_CHECK(ranks >= 1 && ranks <= kMaxRanks);
    problem.parts = std::lcm(problem.parts, ranks);
  }
  for (const ItemRun& run : runs) {
    problem.runs.push_back({run.count, scales.weight.whole(run.each.weight)});
    if (!problem.limited) continue;
    for (const double in_flight : teams.in_flight)
      problem.runs.back().memory.push_back(scales.bytes.whole(held(run.each, in_flight)));
  }
  return problem;
}

plan::Stages make_stages(const SplitTask& task, const Cuts& cuts) {
  i64 layers = 0;
  for (const ItemRun& run : task.layers) layers += run.count;
  const i64 mtp_items = task.mtp_apart ? task.mtp_modules : std::min<i64>(task.mtp_modules, 1);
  plan::Stages stages;
  i64 first = 0;
  for (const i64 end : cuts) {
    const auto inside = [&](i64 from, i64 to) {
      return std::max<i64>(0, std::min(end, to) - std::max(first, from));
    };
    const i64 mtp = inside(1 + layers, 1 + layers + mtp_items);
    stages.push_back({.layers = inside(1, 1 + layers),
                      .mtp = task.mtp_apart ? mtp : mtp * task.mtp_modules,
                      .embedding = first == 0,
                      .loss = end == cuts.back()});
    first = end;
  }
  return stages;
}

}  // namespace

StageMap map_round_robin(i64 pp, i64 chunks) {
  StageMap map;
  for (i64 s = 0; s < pp * chunks; ++s) map.team_of_stage.push_back(s % pp);
  for (i64 r = 0; r < pp; ++r) map.team_of_rank.push_back(r);
  return map;
}

StageMap map_v_shape(i64 pp, i64 chunks) {
  StageMap map = map_round_robin(pp, chunks);
  for (i64 s = 0; s < pp * chunks; ++s)
    if (s / pp % 2 == 1) map.team_of_stage[std::size_t(s)] = pp - 1 - s % pp;
  return map;
}

StageMap map_both_ends(i64 pp) {
  StageMap map;
  for (i64 s = 0; s < pp; ++s) map.team_of_stage.push_back(std::min(s, pp - 1 - s));
  map.team_of_rank = map.team_of_stage;
  return map;
}

Split find_best_split(const SplitTask& task) {
  const std::vector<ItemRun> runs = list_items(task);
  const Teams teams = make_teams(task);
  const Scales scales = make_scales(task, runs, teams);
  const SplitProblem problem = make_problem(task, runs, teams, scales);
  if (problem.items() < problem.stages()) return {.fault = Split::Fault::items, .proved = true};

  const BestCuts best = find_best_cuts(
      problem, task.capacity ? scales.bytes.limit(task.capacity->value) : kNoLimit, task.steps);
  const Bytes memory{scales.bytes.back(double(best.reached.memory))};
  if (!best.cuts) return {.fault = Split::Fault::memory, .memory = memory, .proved = best.proved};
  const auto weight = [&](i64 load) {
    return scales.weight.back(double(load) / double(problem.parts));
  };
  return {.stages = make_stages(task, *best.cuts),
          .rank_weight = weight(best.reached.load),
          .stage_weight = scales.weight.back(double(best.reached.stage)),
          .min_rank_weight = weight(best.min_load),
          .memory = memory,
          .proved = best.proved};
}

}  // namespace rankwright::split
