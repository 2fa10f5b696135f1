#include "rankwright/split/units.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <unordered_set>

namespace rankwright::split {
namespace {

using Verdict = Probe::Verdict;

constexpr i64 kMaxUnitEntries = i64{1} << 20;
constexpr i64 kOpen = -1;
constexpr i64 kStepsPerUnitStage = 8;

/// Prefix sums, which give the sum over any range of items.
class Sums {
 public:
  void reserve(i64 items) { sums_.reserve(std::size_t(items) + 1); }
  void add(i64 value) { sums_.push_back(sums_.back() + value); }
  i64 between(i64 first, i64 end) const {
    return sums_[std::size_t(end)] - sums_[std::size_t(first)];
  }
  i64 items() const { return i64(sums_.size()) - 1; }

 private:
  std::vector<i64> sums_{0};
};

/// All items in order, and the limits of stages and teams.
class Line {
 public:
  Line(const SplitProblem& problem, const SplitLimits& limits)
      : problem_(problem), limits_(limits), memory_(problem.limited ? problem.ranks.size() : 0) {
    weight_.reserve(problem.items());
    for (const SplitProblem::Run& run : problem.runs)
      for (i64 i = 0; i < run.count; ++i) {
        weight_.add(run.weight);
        for (std::size_t t = 0; t < memory_.size(); ++t) memory_[t].add(run.memory[t]);
      }
    for (i64 team = 0; team < problem.teams(); ++team)
      room_.push_back(limits.of_team(problem, team));
  }

  i64 items() const { return weight_.items(); }
  i64 stages() const { return problem_.stages(); }
  i64 team(i64 stage) const { return problem_.team_of_stage[std::size_t(stage)]; }
  i64 room(i64 team) const { return room_[std::size_t(team)]; }
  i64 weight(i64 first, i64 end) const { return weight_.between(first, end); }
  i64 memory(i64 team, i64 first, i64 end) const {
    return memory_.empty() ? 0 : memory_[std::size_t(team)].between(first, end);
  }
  i64 max_memory() const { return limits_.memory; }
  i64 max_weight(i64 stage) const { return std::min(limits_.stage, room(team(stage))); }

  /// Returns whether items `first` to `end` fit as a stage whose team has nothing else.
  bool fits(i64 stage, i64 first, i64 end) const {
    return weight(first, end) <= max_weight(stage) &&
           memory(team(stage), first, end) <= limits_.memory;
  }

 private:
  const SplitProblem& problem_;
  const SplitLimits limits_;
  Sums weight_{};
  std::vector<Sums> memory_;  // by team
  std::vector<i64> room_{};   // by team
};

/// By stage and first item: whether the items from there on can be divided into the stages from
/// there on, each within the limits of a team that has nothing else.
using Ahead = std::vector<std::vector<char>>;

Ahead look_ahead(const Line& line) {
  const i64 all = line.items();
  Ahead ahead(std::size_t(line.stages()) + 1, std::vector<char>(std::size_t(all) + 1));
  ahead.back().back() = 1;
  // Prefix count of the ends from which the remaining stages are feasible.
  std::vector<i64> good(std::size_t(all) + 2);
  for (i64 s = line.stages() - 1; s >= 0; --s) {
    const std::vector<char>& next = ahead[std::size_t(s) + 1];
    for (std::size_t p = 0; p < next.size(); ++p) good[p + 1] = good[p] + next[p];
    const i64 max_weight = line.max_weight(s), team = line.team(s);
    const auto fits = [&](i64 first, i64 past) {
      return line.weight(first, past) <= max_weight &&
             line.memory(team, first, past) <= line.max_memory();
    };
    // The farthest end only moves forward with the first item, so a stage takes one pass.
    i64 end = 0;
    for (i64 p = 0; p < all; ++p) {
      end = std::max(end, p);
      while (end < all && fits(p, end + 1)) ++end;
      ahead[std::size_t(s)][std::size_t(p)] =
          good[std::size_t(end) + 1] - good[std::size_t(p) + 1] > 0;
    }
  }
  return ahead;
}

/// Returns whether every item alone fits every stage.
bool fits_everywhere(const SplitProblem& problem, const Line& line) {
  for (const SplitProblem::Run& run : problem.runs)
    for (i64 s = 0; s < line.stages() && run.count > 0; ++s)
      if (run.weight > line.max_weight(s) ||
          (problem.limited && run.memory[std::size_t(line.team(s))] > line.max_memory()))
        return false;
  return true;
}

/// Returns the value in a range nearest to `ideal` for which `does` holds; nothing if there is
/// none.
template <class Does>
std::optional<i64> nearest(i64 low, i64 high, i64 ideal, const Does& does) {
  if (low > high) return std::nullopt;
  const i64 from = std::clamp(ideal, low, high);
  for (i64 away = 0; from - away >= low || from + away <= high; ++away) {
    if (from - away >= low && does(from - away)) return from - away;
    if (away > 0 && from + away <= high && does(from + away)) return from + away;
  }
  return std::nullopt;
}

Cuts chain_cuts(const Line& line, const Ahead& ahead, const Cuts& ideal) {
  Cuts cuts;
  i64 first = 0;
  for (i64 s = 0; s < line.stages(); ++s) {
    i64 far = first + 1;
    while (far < line.items() && line.fits(s, first, far + 1)) ++far;
    first = *nearest(first + 1, far, ideal[std::size_t(s)],
                     [&](i64 end) { return ahead[std::size_t(s) + 1][std::size_t(end)] != 0; });
    cuts.push_back(first);
  }
  return cuts;
}

/// Places team after team, each with all its stages, so that a team's load is known at once and its
/// unused weight is lost. The remaining teams depend only on the cuts that they share with the
/// earlier ones; combinations of these that lead nowhere are remembered.
class TeamSearch {
 public:
  TeamSearch(const SplitProblem& problem, const Line& line, Steps& steps)
      : line_(line),
        steps_(steps),
        ideal_(compute_ideal_cuts(problem)),
        stages_of_(problem.ranks.size()),
        cuts_(std::size_t(problem.stages()), kOpen) {
    cuts_.back() = line.items();
    const i64 all = line.weight(0, line.items());
    for (i64 s = 0; s < line.stages(); ++s) {
      stages_of_[std::size_t(line.team(s))].push_back(s);
      max_.add(std::min(all, line.max_weight(s)));
    }
    spare_ = -all;
    for (i64 team = 0; team < problem.teams(); ++team) spare_ += std::min(all, line.room(team));
  }

  Probe probe() {
    if (spare_ >= 0 && place_team(0)) return {Verdict::yes, cuts_};
    return {steps_.out() ? Verdict::unknown : Verdict::no};
  }

 private:
  struct Held {
    i64 weight = 0, memory = 0;
  };

  i64 cut(i64 stage) const { return stage < 0 ? 0 : cuts_[std::size_t(stage)]; }

  bool place_team(std::size_t team) {
    if (team == stages_of_.size()) return true;
    const std::u32string key = shared_cuts(team);
    if (dead_ends_.count(key) > 0) return false;
    if (place_stage(team, 0, {})) return true;
    if (!steps_.out()) dead_ends_.insert(key);
    return false;
  }

  /// Returns the cuts next to a stage of a remaining team: all that the rest of the search depends
  /// on.
  std::u32string shared_cuts(std::size_t team) const {
    std::u32string key{char32_t(team)};
    for (i64 s = 0; s < line_.stages(); ++s) {
      const bool before = line_.team(s) >= i64(team);
      const bool behind = s + 1 < line_.stages() && line_.team(s + 1) >= i64(team);
      if (cut(s) != kOpen && (before || behind)) key.push_back(char32_t(cut(s)));
    }
    return key;
  }

  /// Places the k-th stage of a team, which already holds `held`.
  bool place_stage(std::size_t team, std::size_t k, Held held) {
    if (!steps_.take(kStepsPerUnitStage)) return false;
    if (k == stages_of_[team].size()) {
      const i64 all = line_.weight(0, line_.items());
      const i64 unused = std::min(all, line_.room(i64(team))) - held.weight;
      if (unused > spare_) return false;
      spare_ -= unused;
      if (place_team(team + 1)) return true;
      spare_ += unused;
      return false;
    }
    const i64 s = stages_of_[team][k];
    if (cut(s - 1) == kOpen) return place_cut(s - 1, team, k, held);
    if (cut(s) == kOpen) return place_cut(s, team, k, held);
    if (line_.weight(cut(s - 1), cut(s)) > line_.max_weight(s)) return false;
    held.weight += line_.weight(cut(s - 1), cut(s));
    held.memory += line_.memory(i64(team), cut(s - 1), cut(s));
    if (held.weight > line_.room(i64(team)) || held.memory > line_.max_memory()) return false;
    return place_stage(team, k + 1, held);
  }

  bool place_cut(i64 stage, std::size_t team, std::size_t k, const Held& held) {
    i64 below = stage - 1, above = stage + 1;
    while (below >= 0 && cut(below) == kOpen) --below;
    while (cut(above) == kOpen) ++above;
    const i64 low = cut(below) + stage - below, high = cut(above) - (above - stage);
    const std::optional<i64> found = nearest(low, high, ideal_[std::size_t(stage)], [&](i64 value) {
      if (!steps_.take(1)) return false;
      // The items between two cuts must fit into the stages between them.
      if (line_.weight(cut(below), value) > max_.between(below + 1, stage + 1)) return false;
      if (line_.weight(value, cut(above)) > max_.between(stage + 1, above + 1)) return false;
      cuts_[std::size_t(stage)] = value;
      return place_stage(team, k, held);
    });
    if (!found) cuts_[std::size_t(stage)] = kOpen;
    return found.has_value();
  }

  const Line& line_;
  Steps& steps_;
  const Cuts ideal_;
  std::vector<std::vector<i64>> stages_of_;
  Cuts cuts_;
  Sums max_{};     // maximum weight of stages
  i64 spare_ = 0;  // weight that the remaining teams may leave unused
  std::unordered_set<std::u32string> dead_ends_{};
};

}  // namespace

bool can_split_by_items(const SplitProblem& problem) {
  const i64 rows = std::max(problem.stages(), problem.limited ? problem.teams() : 1);
  return problem.items() <= kMaxUnitEntries / rows;
}

Probe find_split_by_items(const SplitProblem& problem, const SplitLimits& limits, Steps& steps) {
  const Line line(problem, limits);
  const Ahead ahead = look_ahead(line);
  if (ahead[0][0] == 0) return {Verdict::no};
  if (problem.stages() == problem.teams())
    return {Verdict::yes, chain_cuts(line, ahead, compute_ideal_cuts(problem))};
  return TeamSearch(problem, line, steps).probe();
}

bool stages_fit(const SplitProblem& problem, const SplitLimits& limits) {
  const Line line(problem, limits);
  if (line.items() < line.stages()) return false;
  if (!fits_everywhere(problem, line)) return look_ahead(line)[0][0] != 0;
  // If any item fits any stage, a start later than one that is possible is possible, too. So the
  // earliest start of each stage, from the last one on, decides.
  i64 start = line.items();
  for (i64 s = line.stages() - 1; s >= 0; --s) {
    const i64 end = start--;
    while (start > s && line.fits(s, start - 1, end)) --start;
  }
  return start == 0;
}

}  // namespace rankwright::split
