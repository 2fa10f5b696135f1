#include "rankwright/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "rankwright/catalog/catalog.h"
#include "tests/support/brute_force.h"
#include "tests/support/problems.h"

namespace rankwright::search {
namespace search_test {

using problems::Dice;

constexpr double kRounding = 1e-12;  // the search sums the same terms in another order
constexpr double kAll = 1e9;         // a window that contains everything

bool is_same(Seconds a, Seconds b) { return std::abs(a / b - 1) <= kRounding; }

/// Returns all of a plan but its axis order.
auto make_key(const plan::Plan& p) {
  std::vector<i64> stages;
  for (const plan::Stage& s : p.stages) {
    stages.push_back(s.layers);
    stages.push_back(4 * s.mtp + 2 * s.embedding + s.loss);
  }
  return std::tuple(std::tuple(p.tp, p.cp, p.dp, p.pp, p.ep, p.etp, p.micro_batch),
                    std::tuple(p.zero, p.shard_size, p.sequence_parallel, p.cp_comm, p.recompute,
                               p.recompute_layers, show(p.modules, " ")),
                    std::tuple(p.schedule, p.virtual_stages, stages));
}
using Key = decltype(make_key(plan::Plan{}));

std::multimap<Key, Candidate> index_by_key(const std::vector<Candidate>& all) {
  std::multimap<Key, Candidate> sorted;
  for (const Candidate& one : all) sorted.emplace(make_key(one.plan), one);
  return sorted;
}

/// Returns whether `all` has a plan that is `one` or has an equivalent placement.
bool has(const std::multimap<Key, Candidate>& all, const Candidate& one) {
  const auto [begin, end] = all.equal_range(make_key(one.plan));
  return std::any_of(begin, end, [&](const auto& entry) {
    return is_same(entry.second.time, one.time) && entry.second.memory == one.memory;
  });
}

std::vector<Candidate> find_front(std::vector<Candidate> all) {
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair(a.time, a.memory) < std::pair(b.time, b.memory);
  });
  std::vector<Candidate> front;
  for (const Candidate& one : all)
    if (front.empty() || one.memory < front.back().memory) front.push_back(one);
  return front;
}

bool is_covered(const std::vector<Candidate>& front, const Candidate& one) {
  return std::any_of(front.begin(), front.end(), [&](const Candidate& other) {
    return other.time <= (1 + kRounding) * one.time && other.memory <= one.memory;
  });
}

/// A problem and all its candidates.
struct SolvedProblem {
  Problem problem;
  Brute brute;

  std::vector<Candidate> fitting() const {
    std::vector<Candidate> fit;
    for (const Candidate& one : brute.runs)
      if (one.memory <= problem.capacity) fit.push_back(one);
    std::stable_sort(fit.begin(), fit.end(), faster);
    return fit;
  }
};

/// Solves a random problem by brute force. Adds random limits until it has at most `max`
/// candidates.
SolvedProblem solve_random(std::uint64_t seed, i64 max) {
  Dice dice(seed);
  SolvedProblem made{.problem = problems::random_problem(dice), .brute = {}};
  for (i64 k = dice.below(4); k > 0; --k) problems::narrow(made.problem.limits, dice);
  BruteForce force(made.problem, catalog::get_calibration());
  i64 count = force.count(max);
  for (int tries = 0; count > max || (count < 50 && tries < 30); ++tries) {
    if (count < 50) made.problem.limits = {.target = made.problem.limits.target};
    problems::narrow(made.problem.limits, dice);
    count = force.count(max);
  }
  made.brute = force.all();
  return made;
}

/// Returns capacities at which all plans fit, some fit, and at most a few fit.
std::vector<Bytes> choose_capacities(const Brute& brute, Dice& dice) {
  std::vector<Bytes> sizes;
  for (const Candidate& one : brute.runs) sizes.push_back(one.memory);
  std::sort(sizes.begin(), sizes.end());
  if (sizes.empty()) return {Bytes{80e9}};
  const Bytes some = sizes[std::size_t(dice.below(i64(sizes.size())))];
  const Bytes few = dice.of<double>({1, 0.99, 0.3}) * sizes.front();
  return {sizes.back(), some, few};
}

void expect_adds_up(const SearchStats& t) {
  EXPECT_EQ(t.candidates, t.duplicates + t.broken() + t.pruned + t.memory + t.evaluated);
}

/// Checks that `found` has exactly the candidates of `within` that are not slower than `limit`.
void expect_same_set(const std::vector<Candidate>& within, Seconds limit,
                     const std::vector<Candidate>& found) {
  const std::multimap<Key, Candidate> all = index_by_key(within), kept = index_by_key(found);
  for (const Candidate& one : within)
    if (one.time <= (1 - kRounding) * limit) {
      EXPECT_TRUE(has(kept, one)) << "lost: " << format_findings(one);
    }
  for (const Candidate& one : found) {
    EXPECT_LE(one.time, (1 + kRounding) * limit);
    EXPECT_TRUE(has(all, one)) << "made up: " << format_findings(one);
  }
}

/// Checks that `found` has, per family, the fastest that fits with margin and the fastest without.
void expect_families(const std::vector<Candidate>& fitting, Bytes safe, Seconds limit,
                     const std::vector<Candidate>& found) {
  using Which = std::pair<Family, bool>;
  std::map<Which, Seconds> fastest, listed;
  for (const Candidate& one : fitting)  // fastest first
    if (one.time <= (1 + kRounding) * limit)
      fastest.emplace(Which(find_family(one.plan), one.memory <= safe), one.time);
  for (const Candidate& one : found) {
    EXPECT_EQ(one.sure, one.memory <= safe);
    const Which which(find_family(one.plan), one.sure);
    EXPECT_TRUE(listed.emplace(which, one.time).second) << "a family twice";
    const auto known = fastest.find(which);
    ASSERT_NE(known, fastest.end());
    EXPECT_TRUE(is_same(known->second, one.time));
  }
  for (const auto& [which, time] : fastest)
    if (time <= (1 - kRounding) * limit) {
      EXPECT_TRUE(listed.contains(which));
    }
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end(), faster));
}

void expect_front(const std::vector<Candidate>& fitting, Seconds limit,
                  const std::vector<Candidate>& found) {
  const std::vector<Candidate> front = find_front(fitting);
  for (const Candidate& one : front)
    if (one.time <= (1 - kRounding) * limit) {
      EXPECT_TRUE(is_covered(found, one)) << format_findings(one);
    }
  for (const Candidate& one : found) {
    EXPECT_TRUE(is_covered(front, one));
    EXPECT_LE(one.time, (1 + kRounding) * limit);
  }
  for (std::size_t k = 1; k < found.size(); ++k) {
    EXPECT_LT(found[k - 1].time, found[k].time);
    EXPECT_GT(found[k - 1].memory, found[k].memory);
  }
}

/// Compares the result of a search with brute force.
void expect_equals_brute_force(const SolvedProblem& solved, const Windows& windows, bool bounds) {
  const SearchResult found =
      search(solved.problem, catalog::get_calibration(), {.windows = windows, .bounds = bounds});
  const std::vector<Candidate> fitting = solved.fitting();
  const PartialResult& space = found.space;
  EXPECT_TRUE(found.complete);
  EXPECT_EQ(found.undecided, 0);
  expect_adds_up(space.stats);
  EXPECT_EQ(space.stats.candidates, solved.brute.candidates);
  ASSERT_EQ(space.best.has_value(), !fitting.empty());
  if (fitting.empty()) {
    EXPECT_EQ(space.stats.evaluated, 0);
    EXPECT_TRUE(space.near.empty() && space.families.empty() && space.front.empty());
    const auto leanest =
        std::min_element(solved.brute.runs.begin(), solved.brute.runs.end(),
                         [](const auto& a, const auto& b) { return a.memory < b.memory; });
    ASSERT_EQ(space.leanest.has_value(), leanest != solved.brute.runs.end());
    if (space.leanest) {
      EXPECT_EQ(space.leanest->memory, leanest->memory);
    }
    return;
  }
  EXPECT_TRUE(is_same(space.best->time, fitting.front().time))
      << format_findings(*space.best) << " is not " << format_findings(fitting.front());
  const Seconds fastest = fitting.front().time;
  expect_same_set(fitting, (1 + windows.near) * fastest, space.near);
  expect_families(fitting, solved.problem.safe(), (1 + windows.family) * fastest, space.families);
  expect_front(fitting, (1 + windows.family) * fastest, space.front);
}

/// Checks the statistics of a search without bounds. They need not equal those of brute force,
/// because the search chooses which of several duplicates it evaluates.
void expect_counts(const SolvedProblem& solved) {
  const SearchResult found = search(solved.problem, catalog::get_calibration(), {.bounds = false});
  const SearchStats& stats = found.space.stats;
  const i64 fit = i64(solved.fitting().size());
  const i64 all = i64(solved.brute.runs.size());
  EXPECT_EQ(stats.pruned, 0);
  EXPECT_LE(stats.evaluated, fit);
  EXPECT_LE(stats.memory, all - fit);
  EXPECT_LE(stats.evaluated + stats.memory, all);
  EXPECT_EQ(stats.evaluated > 0, fit > 0);
  EXPECT_EQ(stats.memory > 0, all > fit);
}

class SearchOfRandomProblems : public testing::TestWithParam<int> {};

/// Problems per test. Several small tests run in parallel and fail early.
constexpr int kProblems = 24;
constexpr i64 kMax = 2500;

TEST_P(SearchOfRandomProblems, EqualsBruteForce) {
  for (int k = 0; k < kProblems; ++k) {
    const int seed = GetParam() * kProblems + k;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(std::uint64_t(seed) + 7'000'000);
    SolvedProblem one = solve_random(std::uint64_t(seed), kMax);
    expect_equals_brute_force(one, {.near = kAll, .family = kAll}, dice.coin());
    for (const Bytes capacity : choose_capacities(one.brute, dice)) {
      SCOPED_TRACE(testing::Message() << "capacity " << capacity.value);
      one.problem.capacity = capacity;
      const Windows windows{.near = dice.of<double>({0, 0.02, 0.3}),
                            .family = dice.of<double>({0, 0.05, 0.5})};
      expect_equals_brute_force(one, windows, true);
      expect_equals_brute_force(one, windows, false);
      expect_counts(one);
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Random, SearchOfRandomProblems, testing::Range(0, 9));

void expect_identical(const std::vector<Candidate>& a, const std::vector<Candidate>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    EXPECT_EQ(a[k].plan, b[k].plan);
    EXPECT_EQ(a[k].time, b[k].time);
    EXPECT_EQ(a[k].memory, b[k].memory);
  }
}

void expect_identical(const std::optional<Candidate>& a, const std::optional<Candidate>& b) {
  ASSERT_EQ(a.has_value(), b.has_value());
  if (a) expect_identical(std::vector{*a}, std::vector{*b});
}

TEST(Search, DoesNotDependOnTheNumberOfThreads) {
  int found = 0;
  for (std::uint64_t seed = 900; seed < 960; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    Problem one = problems::random_problem(dice);
    for (int k = 0; k < 4; ++k) problems::narrow(one.limits, dice);
    one.capacity = Bytes{double(dice.number({4, 20, 80})) * 1e9};
    const Windows windows{.near = 0.05, .family = 0.2};
    const SearchResult first =
        search(one, catalog::get_calibration(), {.windows = windows, .threads = 1});
    found += first.space.best ? 1 : 0;
    for (const int threads : {2, 4, 0}) {
      const SearchResult other =
          search(one, catalog::get_calibration(), {.windows = windows, .threads = threads});
      EXPECT_EQ(first.space.stats, other.space.stats);
      EXPECT_EQ(first.complete, other.complete);
      expect_identical(first.space.best, other.space.best);
      expect_identical(first.space.near, other.space.near);
      expect_identical(first.space.families, other.space.families);
      expect_identical(first.space.front, other.space.front);
      expect_identical(first.space.leanest, other.space.leanest);
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(found, 20);
}

TEST(Search, KnownTime_DoesNotChangeTheAnswer) {
  int known = 0;
  for (std::uint64_t seed = 960; seed < 1020; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    Problem one = problems::random_problem(dice);
    for (int k = 0; k < 4; ++k) problems::narrow(one.limits, dice);
    one.capacity = Bytes{double(dice.number({4, 20, 80})) * 1e9};
    const cluster::Calibration& constants = catalog::get_calibration();
    SearchOptions options{.windows = {.near = 0.05, .family = 0.2}};
    const SearchResult plain = search(one, constants, options);
    Family family{.tp = dice.number({1, 2}), .pp = dice.number({1, 2})};
    if (!plain.space.families.empty() && dice.coin())
      family = find_family(plain.space.families.back().plan);
    options.known = find_similar_time(one, family, constants, options);
    if (!options.known) continue;
    ++known;
    ASSERT_TRUE(plain.space.best);
    EXPECT_GE(*options.known, plain.space.best->time);
    const SearchResult bounded = search(one, constants, options);
    expect_identical(plain.space.best, bounded.space.best);
    expect_identical(plain.space.near, bounded.space.near);
    expect_identical(plain.space.families, bounded.space.families);
    expect_identical(plain.space.front, bounded.space.front);
    // The best time itself bounds the search, too.
    options.known = plain.space.best->time;
    expect_identical(plain.space.near, search(one, constants, options).space.near);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(known, 20);
}

}  // namespace search_test
}  // namespace rankwright::search
