#include "rankwright/split/counts.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "rankwright/split/packing.h"

namespace rankwright::split {
namespace {

using Verdict = Probe::Verdict;

constexpr i64 kStepsOfStage = 8;

/// One assignment of the runs' ends to stages. Run i ends in stage last[i]. Every stage after the
/// end of the previous run up to last[i] has at least one of its items, and the stage in which the
/// previous run ends may have some. The numbers beyond these minimums remain open.
class Pattern {
 public:
  Pattern(const SplitProblem& problem, const SplitLimits& limits, const std::vector<i64>& last)
      : problem_(problem), limits_(limits), last_(last) {}

  Probe probe(Steps& steps) {
    if (!steps.take(kStepsOfStage * problem_.stages()) || !force()) return no_or_unknown(steps);
    if (open_.empty()) return {Verdict::yes, cuts()};
    // The run with the most items is not enumerated.
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return open_[a].more < open_[b].more; });
    Packing packing{.room = room_, .max = [this](i64 team, const std::vector<i64>& others) {
                      return max(team, others);
                    }};
    for (const std::size_t o : order_) {
      packing.demand.push_back(open_[o].more);
      packing.weight.push_back(open_[o].weight);
    }
    packing.like = group_alike();
    Packed packed = pack(packing, steps);
    if (packed.verdict != Verdict::yes) return {packed.verdict};
    level(packed.taken);
    for (i64 team = 0; team < problem_.teams(); ++team)
      assign(team, packed.taken[std::size_t(team)]);
    return {Verdict::yes, cuts()};
  }

 private:
  /// A run that has more items than its stages require.
  struct Open {
    std::size_t run;
    i64 weight;
    i64 more;
    i64 begin, end;  // the last stage of the previous run, and its own last stage
    i64 each;        // items that a stage with only this run takes beside the required one
    std::vector<i64> own = {};  // by team: number of stages that have only this run
  };
  /// Where a team's items of an open run go: the stage where the run begins, stages of its own, the
  /// stage where it ends.
  struct Spread {
    i64 begin = 0, own = 0, end = 0;
  };

  static Probe no_or_unknown(const Steps& steps) {
    return {steps.out() ? Verdict::unknown : Verdict::no};
  }

  i64 team(i64 stage) const { return problem_.team_of_stage[std::size_t(stage)]; }

  void put(std::size_t run, i64 stage, i64 count) {
    const std::size_t t = std::size_t(team(stage));
    items_[std::size_t(stage)] += count;
    weight_[std::size_t(stage)] += count * problem_.runs[run].weight;
    load_[t] += count * problem_.runs[run].weight;
    if (problem_.limited) memory_[t] += count * problem_.runs[run].memory[t];
  }

  /// Places the items that are required in each stage. Returns false if they alone exceed the
  /// limits.
  bool force() {
    const std::size_t stages = std::size_t(problem_.stages()), teams = problem_.ranks.size();
    items_.assign(stages, 0);
    weight_.assign(stages, 0);
    load_.assign(teams, 0);
    memory_.assign(teams, 0);
    for (std::size_t i = 0; i < last_.size(); ++i) {
      const SplitProblem::Run& run = problem_.runs[i];
      const i64 before = i == 0 ? -1 : last_[i - 1];
      if (before == last_[i]) {
        put(i, last_[i], run.count);
        continue;
      }
      for (i64 s = before + 1; s <= last_[i]; ++s) put(i, s, 1);
      const i64 more = run.count - (last_[i] - before);
      if (more > 0) open_.push_back({i, run.weight, more, before, last_[i], more});
    }
    for (const i64 weight : weight_)
      if (weight > limits_.stage) return false;
    by_team_.resize(teams);
    for (i64 s = 0; s < problem_.stages(); ++s) by_team_[std::size_t(team(s))].push_back(s);
    for (std::size_t t = 0; t < teams; ++t) {
      const i64 limit = limits_.of_team(problem_, i64(t));
      if (load_[t] > limit || memory_[t] > limits_.memory) return false;
      room_.push_back(limit == kNoLimit ? kNoLimit : limit - load_[t]);
    }
    return open_stages_suffice();
  }

  /// Returns whether the stages have room for the open runs; also counts the stages of its own that
  /// every open run has.
  bool open_stages_suffice() {
    for (Open& open : open_) {
      order_.push_back(order_.size());
      if (limits_.stage != kNoLimit && open.weight > 0)
        open.each = std::min(open.more, (limits_.stage - open.weight) / open.weight);
      open.own.assign(problem_.ranks.size(), 0);
      i64 room = fitting(open, open.end) + fitting(open, open.begin);
      for (i64 s = open.begin + 1; s < open.end; ++s) {
        ++open.own[std::size_t(team(s))];
        room += open.each;
      }
      if (room < open.more) return false;
    }
    return true;
  }

  /// Returns how many items of a run fit into a stage beside the required items, with weight `used`
  /// already taken.
  i64 fitting(const Open& open, i64 stage, i64 used = 0) const {
    if (limits_.stage == kNoLimit || open.weight == 0) return open.more;
    const i64 room = limits_.stage - weight_[std::size_t(stage)] - used;
    return std::min(open.more, room / open.weight);
  }

  /// Assigns `more` items, by open run, to the stages of a team; returns false if they do not fit.
  /// A run first fills its own stages, then the stage where it begins (which the previous run
  /// left), and so leaves the most room to the next run.
  bool spread(i64 of_team, const std::vector<i64>& more, std::vector<Spread>* where) const {
    // The last stage of the previous open run, and the weight that it took there.
    i64 shared = -1, used = 0;
    for (std::size_t o = 0; o < open_.size(); ++o) {
      const Open& open = open_[o];
      Spread spread{.own = std::min(more[o], open.own[std::size_t(of_team)] * open.each)};
      i64 rest = more[o] - spread.own;
      if (rest > 0 && team(open.begin) == of_team) {
        spread.begin = std::min(rest, fitting(open, open.begin, open.begin == shared ? used : 0));
        rest -= spread.begin;
      }
      if (rest > 0 && (team(open.end) != of_team || fitting(open, open.end) < rest)) return false;
      spread.end = rest;
      shared = open.end;
      used = rest * open.weight;
      if (where != nullptr) where->push_back(spread);
    }
    return true;
  }

  /// Returns by team the first team with the same limits and contents.
  std::vector<i64> group_alike() const {
    std::map<std::vector<i64>, i64> first;
    std::vector<i64> like;
    for (i64 t = 0; t < problem_.teams(); ++t) {
      std::vector<i64> takes{room_[std::size_t(t)]};
      if (problem_.limited) takes.push_back(memory_[std::size_t(t)]);
      for (const Open& open : open_) {
        takes.push_back(open.own[std::size_t(t)]);
        // A team with a stage that two runs share is unlike any other.
        takes.push_back(team(open.begin) == t || team(open.end) == t ? t : -1);
        if (problem_.limited) takes.push_back(problem_.runs[open.run].memory[std::size_t(t)]);
      }
      like.push_back(first.emplace(std::move(takes), t).first->second);
    }
    return like;
  }

  i64 max(i64 of_team, const std::vector<i64>& others) const {
    const std::size_t t = std::size_t(of_team);
    i64 room = room_[t];
    i64 memory = limits_.memory == kNoLimit ? kNoLimit : limits_.memory - memory_[t];
    const auto take = [&](std::size_t o, i64 count) {
      if (room != kNoLimit) room -= count * open_[o].weight;
      if (memory != kNoLimit) memory -= count * problem_.runs[open_[o].run].memory[t];
    };
    std::vector<i64> more(open_.size());
    for (std::size_t k = 0; k < others.size(); ++k) {
      more[order_[k]] = others[k];
      take(order_[k], others[k]);
    }
    if (room < 0 || memory < 0) return -1;
    const std::size_t last = order_.back();
    i64 high = open_[last].more;
    if (open_[last].weight > 0) high = std::min(high, room / open_[last].weight);
    const i64 bytes = problem_.limited ? problem_.runs[open_[last].run].memory[t] : 0;
    if (bytes > 0) high = std::min(high, memory / bytes);
    // Binary search for the maximum that can be spread over the team's stages.
    i64 low = -1, next = high;
    while (low < high) {
      more[last] = next;
      if (spread(of_team, more, nullptr))
        low = next;
      else
        high = next - 1;
      next = low + (high - low + 1) / 2;
    }
    return low;
  }

  /// Reduces the items taken of the last run to the number that exists: all teams are filled up to
  /// the same load. Among equal teams, the later ones get the remainder, because the first ones
  /// hold more microbatches.
  void level(std::vector<std::vector<i64>>& taken) const {
    const Open& open = open_[order_.back()];
    const i64 each = std::max<i64>(open.weight, 1);
    const auto count_at = [&](std::size_t t, i64 load) {
      const i64 up_to = load * problem_.ranks[t] / problem_.parts;
      i64 base = load_[t];
      for (std::size_t k = 0; k + 1 < order_.size(); ++k)
        base += taken[t][k] * open_[order_[k]].weight;
      return std::clamp<i64>((up_to - base) / each, 0, taken[t].back());
    };
    const auto sum_at = [&](i64 load) {
      i64 sum = 0;
      for (std::size_t t = 0; t < taken.size(); ++t) sum += count_at(t, load);
      return sum;
    };
    i64 low = 0, high = (problem_.weight() + problem_.items()) * problem_.parts;
    while (high - low > 1) {
      const i64 middle = low + (high - low) / 2;
      (sum_at(middle) <= open.more ? low : high) = middle;
    }
    i64 left = open.more - sum_at(low);
    for (std::size_t t = taken.size(); t-- > 0;) {
      const i64 count = count_at(t, low);
      const i64 one = left > 0 && count_at(t, high) > count ? 1 : 0;
      taken[t].back() = count + one;
      left -= one;
    }
  }

  void assign(i64 of_team, const std::vector<i64>& taken) {
    std::vector<i64> more(open_.size());
    for (std::size_t k = 0; k < taken.size(); ++k) more[order_[k]] = taken[k];
    if (assign_evenly(of_team, more)) return;
    std::vector<Spread> spreads;
    spread(of_team, more, &spreads);
    for (std::size_t o = 0; o < open_.size(); ++o) {
      const Open& open = open_[o];
      put(open.run, open.begin, spreads[o].begin);
      put(open.run, open.end, spreads[o].end);
      i64 own = spreads[o].own;
      for (const i64 s : list_stages(of_team, open.begin + 1, open.end - 1)) {
        put(open.run, s, std::min(own, open.each));
        own -= std::min(own, open.each);
      }
    }
  }

  std::vector<i64> list_stages(i64 of_team, i64 first, i64 last) const {
    std::vector<i64> stages;
    for (const i64 s : by_team_[std::size_t(of_team)])
      if (first <= s && s <= last) stages.push_back(s);
    return stages;
  }

  /// Gives items one by one to the lightest stage that may have them. Returns false and changes
  /// nothing if that exceeds the limit of a stage.
  bool assign_evenly(i64 of_team, const std::vector<i64>& more) {
    std::vector<std::pair<std::size_t, i64>> given;  // (run, stage), one item each
    const auto take_back = [&] {
      for (const auto& [run, stage] : given) put(run, stage, -1);
      return false;
    };
    for (std::size_t o = 0; o < open_.size(); ++o) {
      const std::vector<i64> stages = list_stages(of_team, open_[o].begin, open_[o].end);
      for (i64 n = 0; n < more[o]; ++n) {
        const i64 lightest = *std::min_element(stages.begin(), stages.end(), [&](i64 a, i64 b) {
          return weight_[std::size_t(a)] < weight_[std::size_t(b)];
        });
        given.emplace_back(open_[o].run, lightest);
        put(open_[o].run, lightest, 1);
        if (weight_[std::size_t(lightest)] > limits_.stage) return take_back();
      }
    }
    return true;
  }

  Cuts cuts() const {
    Cuts ends;
    for (const i64 count : items_) ends.push_back((ends.empty() ? 0 : ends.back()) + count);
    return ends;
  }

  const SplitProblem& problem_;
  const SplitLimits& limits_;
  const std::vector<i64>& last_;
  std::vector<i64> items_{}, weight_{};  // by stage
  std::vector<i64> load_{}, memory_{};   // by team
  std::vector<std::vector<i64>> by_team_{};
  std::vector<i64> room_{};  // by team: weight left beside the required items
  std::vector<Open> open_{};
  std::vector<std::size_t> order_{};  // order of the open runs for packing
};

class PatternSearch {
 public:
  PatternSearch(const SplitProblem& problem, const SplitLimits& limits, Steps& steps)
      : problem_(problem), limits_(limits), steps_(steps) {
    const Cuts ideal = compute_ideal_cuts(problem);
    i64 items = 0, left = problem.items();
    for (const SplitProblem::Run& run : problem.runs) {
      items += run.count;
      left -= run.count;
      ideal_.push_back(std::lower_bound(ideal.begin(), ideal.end(), items) - ideal.begin());
      behind_.push_back(left);
    }
  }

  Probe probe() {
    Probe found = place(-1);
    if (found.verdict == Verdict::no && open_question_) found.verdict = Verdict::unknown;
    return found;
  }

 private:
  /// Chooses the last stage of the next run; the previous one ends in stage `before`.
  Probe place(i64 before) {
    const std::size_t run = last_.size();
    if (run == problem_.runs.size()) {
      Probe probe = Pattern(problem_, limits_, last_).probe(steps_);
      open_question_ = open_question_ || probe.verdict == Verdict::unknown;
      return probe;
    }
    // Every stage needs an item: of this run up to its last stage, of the later runs from there on.
    const i64 end = problem_.stages() - 1;
    const i64 low = std::max({before, i64{0}, end - behind_[run]});
    const i64 high = std::min(end, before + problem_.runs[run].count);
    std::vector<i64> stages;
    for (i64 s = low; s <= high; ++s) stages.push_back(s);
    std::stable_sort(stages.begin(), stages.end(), [&](i64 a, i64 b) {
      return std::abs(a - ideal_[run]) < std::abs(b - ideal_[run]);
    });
    for (const i64 stage : stages) {
      if (!steps_.take(1)) {
        open_question_ = true;
        break;
      }
      last_.push_back(stage);
      Probe probe = place(stage);
      last_.pop_back();
      if (probe.verdict == Verdict::yes) return probe;
    }
    return {Verdict::no};
  }

  const SplitProblem& problem_;
  const SplitLimits& limits_;
  Steps& steps_;
  std::vector<i64> ideal_{};   // by run: the stage in which it ends in an ideal split
  std::vector<i64> behind_{};  // by run: number of items after it
  std::vector<i64> last_{};    // by run: the stage in which it ends
  bool open_question_ = false;
};

}  // namespace

Probe find_split_by_counts(const SplitProblem& problem, const SplitLimits& limits, Steps& steps) {
  return PatternSearch(problem, limits, steps).probe();
}

}  // namespace rankwright::split
