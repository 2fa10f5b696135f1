#include "rankwright/search/answer.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/bands/layout_distance.h"
#include "rankwright/rules/change.h"
#include "rankwright/search/preference.h"
#include "tests/support/brute_force.h"
#include "tests/support/problems.h"

namespace rankwright::search {
namespace answer_test {

using problems::Dice;

constexpr double kRounding = 1e-9;  // simulations sum in another order
// How much slower than the fastest closed form the plan with the fastest simulation may be.
constexpr double kNear = (1 + kClosedFormError) / (1 - kClosedFormError) - 1;
constexpr double kEqual = 0.005;  // plans of one family closer than this count as equally fast

Preference rank(const EvaluatedPlan& one, const Problem& problem) {
  return rank_preference(one.config, one.estimate.memory.total() <= problem.safe());
}

/// A problem, all its plans that fit, fastest first, and its answer.
struct SolvedProblem {
  Problem problem;
  std::vector<Candidate> fitting{};
  Answer answer{};

  Seconds simulate(const Candidate& one) const {
    return evaluate_plan(problem, one.plan, catalog::get_calibration()).time();
  }
};

/// Solves a random problem. Its capacity is set so that only a fraction `share` of the plans fits.
SolvedProblem solve_random(std::uint64_t seed, double share) {
  Dice dice(seed);
  SolvedProblem made{.problem = problems::random_problem(dice)};
  BruteForce force(made.problem, catalog::get_calibration());
  constexpr i64 kMax = 1200;
  while (force.count(kMax) > kMax) problems::narrow(made.problem.limits, dice);
  made.fitting = force.all().runs;
  std::sort(made.fitting.begin(), made.fitting.end(),
            [](const Candidate& a, const Candidate& b) { return a.memory < b.memory; });
  if (!made.fitting.empty()) {
    const std::size_t last = std::size_t(share * double(made.fitting.size() - 1));
    made.problem.capacity = made.fitting[last].memory;
    std::erase_if(made.fitting,
                  [&](const Candidate& one) { return one.memory > made.problem.capacity; });
  }
  std::stable_sort(made.fitting.begin(), made.fitting.end(), faster);
  made.answer = find_answer(made.problem, catalog::get_calibration());
  return made;
}

/// Returns the shortest simulated step time.
Seconds find_fastest_simulated(const SolvedProblem& one) {
  Seconds fastest = one.simulate(one.fitting.front());
  for (const Candidate& run : one.fitting)
    if (run.time <= (1 + kNear) * one.fitting.front().time)
      fastest = std::min(fastest, one.simulate(run));
  return fastest;
}

void expect_consistent_estimate(const SolvedProblem& one) {
  const EvaluatedPlan& best = *one.answer.best;
  EXPECT_FALSE(find_first_violation(best.config));
  EXPECT_LE(best.estimate.memory.total(), one.problem.capacity);
  EXPECT_TRUE(best.estimate.fits());
  EXPECT_EQ(best.closed, cost::estimate_step_time(best.config, catalog::get_calibration()).total());
  EXPECT_EQ(best.time(),
            cost::estimate_by_simulation(best.config, catalog::get_calibration()).time());
  EXPECT_EQ(best.estimate.memory, cost::fullest(best.config, catalog::get_calibration()));
  EXPECT_TRUE(one.answer.complete);
  EXPECT_GT(one.answer.ranked_again, 0);
}

void expect_tie(const SolvedProblem& one) {
  const Answer& a = one.answer;
  const Seconds fastest = find_fastest_simulated(one);
  // A plan near a published run may replace one that is not within the wider band, and one that
  // fits with margin may replace one that does not if it is up to a tenth slower.
  const bool published =
      a.fastest && !cost::near_validated(a.fastest->config) && cost::near_validated(a.best->config);
  const bool safer = a.fastest && a.fastest->estimate.memory.total() > one.problem.safe() &&
                     a.best->estimate.memory.total() <= one.problem.safe();
  const double allowed = std::max(published ? a.far_band : a.band, safer ? 0.1 : 0.0);
  EXPECT_LE(a.best->time(), (1 + kRounding) * (1 + allowed) * fastest);
  if (a.fastest) {
    EXPECT_NEAR(a.fastest->time() / fastest, 1, kRounding);
    EXPECT_LT(rank(*a.best, one.problem), rank(*a.fastest, one.problem));
  } else {
    EXPECT_LE(a.best->time(), (1 + kRounding) * (1 + kEqual) * fastest);
  }
}

/// Checks that no preferred family ties. A family is represented by its fastest plan in closed
/// form, or any of several that are equally fast.
void expect_preferred(const SolvedProblem& one) {
  using Which = std::pair<Family, Preference>;
  // The fastest closed form, and the slowest simulation of plans that have it.
  std::map<Which, std::pair<Seconds, Seconds>> families;
  for (const Candidate& run : one.fitting) {
    const Which which(find_family(run.plan), rank_preference(config_of(one.problem, run.plan),
                                                             run.memory <= one.problem.safe()));
    const auto [known, added] = families.try_emplace(which, run.time, Seconds{});
    if (run.time <= (1 + kRounding) * known->second.first)
      known->second.second = std::max(known->second.second, one.simulate(run));
  }
  const Seconds tie = (1 - kRounding) * (1 + one.answer.band) * find_fastest_simulated(one);
  for (const auto& [other, times] : families)
    if (times.second <= tie) {
      EXPECT_GE(other.second, rank(*one.answer.best, one.problem)) << times.second.value;
    }
}

void expect_rivals(const SolvedProblem& one) {
  const Answer& a = one.answer;
  EXPECT_GE(a.tied, 1);
  EXPECT_GE(a.tied, i64(a.rivals.size()) + 1);
  const EvaluatedPlan& first = a.fastest ? *a.fastest : *a.best;
  std::set<Family> seen{find_family(a.best->config.plan), find_family(first.config.plan)};
  for (const EvaluatedPlan& rival : a.rivals) {
    EXPECT_TRUE(seen.insert(find_family(rival.config.plan)).second);
    EXPECT_LE(rival.time(), (1 + kRounding) * (1 + a.band) * a.min);
    EXPECT_LE(rival.estimate.memory.total(), one.problem.capacity);
    EXPECT_FALSE(find_first_violation(rival.config));
  }
  for (std::size_t k = 1; k < a.rivals.size(); ++k)
    EXPECT_LE(a.rivals[k - 1].time(), a.rivals[k].time());
  if (a.margin) {
    EXPECT_GE(*a.margin, -kRounding);
  }
}

void expect_safe(const SolvedProblem& one) {
  const Answer& a = one.answer;
  if (a.best->estimate.sure()) {
    EXPECT_FALSE(a.safe);
    return;
  }
  const Bytes room = (1 - a.best->estimate.memory_band.within) * one.problem.capacity;
  const auto fits = [&](const Candidate& run) { return run.memory <= room; };
  const auto expected = std::find_if(one.fitting.begin(), one.fitting.end(), fits);
  ASSERT_EQ(a.safe.has_value(), expected != one.fitting.end());
  if (!a.safe) return;
  EXPECT_LE(a.safe->estimate.memory.total(), room);
  EXPECT_NEAR(a.safe->closed / expected->time, 1, kRounding);
}

void expect_usual(const SolvedProblem& one) {
  const Answer& a = one.answer;
  const bool fastest_too = !a.fastest || rules::same_order(a.fastest->config, mesh::kDefaultOrder);
  if (rules::same_order(a.best->config, mesh::kDefaultOrder) && fastest_too) {
    EXPECT_FALSE(a.reordered());
    EXPECT_FALSE(a.usual);
    return;
  }
  EXPECT_FALSE(rules::same_order(a.reordered()->config, mesh::kDefaultOrder));
  const auto usual = [&](const Candidate& run) {
    return rules::same_order(config_of(one.problem, run.plan), mesh::kDefaultOrder);
  };
  // With a limit on the order, the default one is not among the plans.
  const auto expected = std::find_if(one.fitting.begin(), one.fitting.end(), usual);
  if (one.problem.limits.order) return;
  ASSERT_EQ(a.usual.has_value(), expected != one.fitting.end());
  if (!a.usual) return;
  EXPECT_TRUE(rules::same_order(a.usual->config, mesh::kDefaultOrder));
  EXPECT_LE(a.usual->closed, (1 + kRounding) * expected->time);
}

/// Returns whether the problem of the seed has an answer.
bool expect_all(std::uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const SolvedProblem one = solve_random(seed, seed % 3 == 0 ? 0.3 : 1);
  EXPECT_EQ(one.answer.best.has_value(), !one.fitting.empty());
  if (!one.answer.best || one.fitting.empty()) return false;
  expect_consistent_estimate(one);
  expect_tie(one);
  expect_preferred(one);
  expect_rivals(one);
  expect_safe(one);
  expect_usual(one);
  return true;
}

class AnswerOfRandomProblems : public testing::TestWithParam<int> {};

TEST_P(AnswerOfRandomProblems, EqualsBruteForce) {
  constexpr int kProblems = 20;
  int answers = 0;
  for (int k = 0; k < kProblems; ++k)
    answers += expect_all(std::uint64_t(4000 + GetParam() * kProblems + k));
  EXPECT_GT(answers, kProblems / 3);
}

INSTANTIATE_TEST_SUITE_P(Random, AnswerOfRandomProblems, testing::Range(0, 4));

// The runner-up is between the fastest plan of a family and its plainer plan that is chosen.
TEST(Answer, MarginIsRelativeToTheFastestPlan) { EXPECT_TRUE(expect_all(4344)); }

// A family at the end of the tie band has a plainer plan outside it.
TEST(Answer, PlainerPlanOfAFamilyIsChosenOnlyInsideTheTieBand) { EXPECT_TRUE(expect_all(14161)); }

TEST(Answer, DoesNotDependOnTheNumberOfThreads) {
  int answers = 0;
  for (std::uint64_t seed = 4600; seed < 4630; ++seed) {
    Dice dice(seed);
    Problem one = problems::random_problem(dice);
    for (int k = 0; k < 5; ++k) problems::narrow(one.limits, dice);
    const Answer first = find_answer(one, catalog::get_calibration(), {.threads = 1});
    const Answer again = find_answer(one, catalog::get_calibration(), {.threads = 3});
    ASSERT_EQ(first.best.has_value(), again.best.has_value());
    EXPECT_EQ(first.stats, again.stats);
    if (!first.best) continue;
    ++answers;
    EXPECT_EQ(first.best->config.plan, again.best->config.plan) << "seed " << seed;
    EXPECT_EQ(first.best->time(), again.best->time());
    EXPECT_EQ(first.margin, again.margin);
    EXPECT_EQ(first.tied, again.tied);
    EXPECT_EQ(first.simulated, again.simulated);
    EXPECT_EQ(first.simulation_error, again.simulation_error);
    ASSERT_EQ(first.rivals.size(), again.rivals.size());
    for (std::size_t k = 0; k < first.rivals.size(); ++k)
      EXPECT_EQ(first.rivals[k].config.plan, again.rivals[k].config.plan);
  }
  EXPECT_GT(answers, 10);
}

TEST(Answer, HasTheLeanestPlanIfNoneFits) {
  int checked = 0;
  for (std::uint64_t seed = 4700; seed < 4730; ++seed) {
    SolvedProblem one = solve_random(seed, 1);
    if (one.fitting.empty()) continue;
    const auto leanest = std::min_element(
        one.fitting.begin(), one.fitting.end(),
        [](const Candidate& a, const Candidate& b) { return a.memory < b.memory; });
    one.problem.capacity = 0.999 * leanest->memory;
    const Answer result = find_answer(one.problem, catalog::get_calibration());
    EXPECT_FALSE(result.best);
    EXPECT_FALSE(result.margin);
    EXPECT_TRUE(result.rivals.empty());
    ASSERT_TRUE(result.leanest) << "seed " << seed;
    EXPECT_EQ(result.leanest->memory, leanest->memory);
    ++checked;
  }
  EXPECT_GT(checked, 10);
}

/// A search that is ended early has a plan that fits, and is not faster than the best.
TEST(Answer, HasAPlanWheneverTheSearchIsEnded) {
  constexpr i64 kLargest = 10'000'000;  // larger problems take minutes with sanitizers
  i64 ended = 0;
  for (std::uint64_t seed = 4900; seed < 4920; ++seed) {
    Dice dice(seed);
    const Problem one = problems::random_problem(dice);
    const Answer all = find_answer(one, catalog::get_calibration());
    if (!all.best || all.stats.candidates > kLargest) continue;
    for (i64 rounds = 0;; rounds += 1 + rounds / 2) {  // 0, 1, 2, 4, 7, ...
      i64 left = rounds;
      const Answer some = find_answer(one, catalog::get_calibration(),
                                      {.go_on = [&](const SearchProgress&) { return left-- > 0; }});
      if (some.complete) break;
      ++ended;
      ASSERT_TRUE(some.best) << "seed " << seed << ", ended after " << rounds;
      EXPECT_TRUE(some.best->estimate.fits());
      EXPECT_GE(some.min, 0.999999 * all.min);
      EXPECT_EQ(some.stats.candidates + some.undecided, all.stats.candidates);
    }
  }
  EXPECT_GT(ended, 20);
}

TEST(Answer, CountsUndecidedCandidatesIfEndedAtOnce) {
  Dice dice(4800);
  Problem one = problems::random_problem(dice);
  const Answer none = find_answer(one, catalog::get_calibration(),
                                  {.go_on = [](const SearchProgress&) { return false; }});
  EXPECT_FALSE(none.complete);
  EXPECT_GT(none.undecided, 0);
  const Answer all = find_answer(one, catalog::get_calibration());
  EXPECT_TRUE(all.complete);
  EXPECT_EQ(all.undecided, 0);
  EXPECT_EQ(none.stats.candidates + none.undecided, all.stats.candidates);
}

}  // namespace answer_test
}  // namespace rankwright::search
