#include "rankwright/search/answer.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "rankwright/catalog/catalog.h"
#include "rankwright/rules/change.h"
#include "tests/support/brute_force.h"
#include "tests/support/problems.h"

namespace rankwright::search {
namespace answer_test {

using problems::Dice;

constexpr double kRounding = 1e-9;  // simulations add up in other orders
// How far from the fastest closed form the fastest simulate may be, when neither errs by more.
constexpr double kNear = (1 + kClosedFormError) / (1 - kClosedFormError) - 1;
constexpr double kEqual = 0.005;  // plans of one family that differ by less: the plainer one

/// What surely fits comes first, then fewer axes, fewer beside dp, no pipeline, less ZeRO, less
/// recompute.
auto simplicity(const Family& f, bool sure) {
  return std::tuple(!sure, f.axes(), f.cuts(), f.pp > 1, f.zero, f.recompute);
}
auto simplicity(const EvaluatedPlan& one, const Problem& problem) {
  return simplicity(find_family(one.config.plan), one.estimate.memory.total() <= problem.safe());
}

/// A problem, all its plans that fit, the fastest first, and its answer.
struct Answered {
  Problem problem;
  std::vector<Candidate> fitting{};
  Answer answer{};

  Seconds simulated(const Candidate& one) const {
    return evaluate_plan(problem, one.plan, catalog::get_calibration()).time();
  }
};

/// Where only the first `share` of the plans fit.
Answered answered(std::uint64_t seed, double share) {
  Dice dice(seed);
  Answered made{.problem = problems::random_problem(dice)};
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

/// By simulate, of those that can be the fastest.
Seconds fastest_simulated(const Answered& one) {
  Seconds fastest = one.simulated(one.fitting.front());
  for (const Candidate& run : one.fitting)
    if (run.time <= (1 + kNear) * one.fitting.front().time)
      fastest = std::min(fastest, one.simulated(run));
  return fastest;
}

void expect_priced_as_any_plan(const Answered& one) {
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

void expect_tie(const Answered& one) {
  const Answer& a = one.answer;
  const Seconds fastest = fastest_simulated(one);
  EXPECT_LE(a.best->time(), (1 + kRounding) * (1 + a.band) * fastest);
  if (a.fastest) {
    EXPECT_NEAR(a.fastest->time() / fastest, 1, kRounding);
    EXPECT_LT(simplicity(*a.best, one.problem), simplicity(*a.fastest, one.problem));
  } else {
    EXPECT_LE(a.best->time(), (1 + kRounding) * (1 + kEqual) * fastest);
  }
}

/// Families are known by their fastest closed form; of several that are equally fast any may be it.
void expect_simplest(const Answered& one) {
  using Which = std::pair<Family, bool>;
  std::map<Which, std::pair<Seconds, Seconds>> families;  // closed, and the slowest such simulate
  for (const Candidate& run : one.fitting) {
    const Which which(find_family(run.plan), run.memory <= one.problem.safe());
    const auto [known, added] = families.try_emplace(which, run.time, Seconds{});
    if (run.time <= (1 + kRounding) * known->second.first)
      known->second.second = std::max(known->second.second, one.simulated(run));
  }
  const Seconds tie = (1 - kRounding) * (1 + one.answer.band) * fastest_simulated(one);
  for (const auto& [other, times] : families)
    if (times.second <= tie) {
      EXPECT_GE(simplicity(other.first, other.second), simplicity(*one.answer.best, one.problem))
          << times.second.value;
    }
}

void expect_rivals(const Answered& one) {
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

void expect_safe(const Answered& one) {
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

void expect_usual(const Answered& one) {
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
  // Where an order is asked for, that is the order: the default one is not among the plans.
  const auto expected = std::find_if(one.fitting.begin(), one.fitting.end(), usual);
  if (one.problem.limits.order) return;
  ASSERT_EQ(a.usual.has_value(), expected != one.fitting.end());
  if (!a.usual) return;
  EXPECT_TRUE(rules::same_order(a.usual->config, mesh::kDefaultOrder));
  EXPECT_LE(a.usual->closed, (1 + kRounding) * expected->time);
}

/// Whether a problem was found that has an answer.
bool expect_all(std::uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const Answered one = answered(seed, seed % 3 == 0 ? 0.3 : 1);
  EXPECT_EQ(one.answer.best.has_value(), !one.fitting.empty());
  if (!one.answer.best || one.fitting.empty()) return false;
  expect_priced_as_any_plan(one);
  expect_tie(one);
  expect_simplest(one);
  expect_rivals(one);
  expect_safe(one);
  expect_usual(one);
  return true;
}

class AnswerIs : public testing::TestWithParam<int> {};

TEST_P(AnswerIs, WhatTryingEverythingFinds) {
  constexpr int kProblems = 20;
  int answers = 0;
  for (int k = 0; k < kProblems; ++k)
    answers += expect_all(std::uint64_t(4000 + GetParam() * kProblems + k));
  EXPECT_GT(answers, kProblems / 3);
}

INSTANTIATE_TEST_SUITE_P(Random, AnswerIs, testing::Range(0, 4));

// A runner-up between the fastest plan of a family and the plainer one that is as good.
TEST(Answer, HasAMarginToTheFastest) { EXPECT_TRUE(expect_all(4344)); }

// A family at the end of the band, with a plainer plan beyond it.
TEST(Answer, TiesAlsoWhenItIsThePlainerOfItsFamily) { EXPECT_TRUE(expect_all(14161)); }

TEST(Answer, IsTheSameEveryTime) {
  for (std::uint64_t seed = 4600; seed < 4630; ++seed) {
    Dice dice(seed);
    Problem one = problems::random_problem(dice);
    for (int k = 0; k < 5; ++k) problems::narrow(one.limits, dice);
    const Answer first = find_answer(one, catalog::get_calibration(), {.threads = 1});
    const Answer again = find_answer(one, catalog::get_calibration(), {.threads = 3});
    ASSERT_EQ(first.best.has_value(), again.best.has_value());
    EXPECT_EQ(first.stats, again.stats);
    if (!first.best) continue;
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
}

TEST(Answer, IsTheLeanestWhereNothingFits) {
  for (std::uint64_t seed = 4700; seed < 4730; ++seed) {
    Answered one = answered(seed, 1);
    if (one.fitting.empty()) continue;
    const auto leanest = std::min_element(
        one.fitting.begin(), one.fitting.end(),
        [](const Candidate& a, const Candidate& b) { return a.memory < b.memory; });
    one.problem.capacity = 0.999 * leanest->memory;
    const Answer told = find_answer(one.problem, catalog::get_calibration());
    EXPECT_FALSE(told.best);
    EXPECT_FALSE(told.margin);
    EXPECT_TRUE(told.rivals.empty());
    ASSERT_TRUE(told.leanest) << "seed " << seed;
    EXPECT_EQ(told.leanest->memory, leanest->memory);
  }
}

/// Wherever it is ended, what was found by then is an answer: one that fits, no faster than the
/// best.
TEST(Answer, IsThereWhereverASearchIsEnded) {
  i64 ended = 0;
  for (std::uint64_t seed = 4900; seed < 4920; ++seed) {
    Dice dice(seed);
    const Problem one = problems::random_problem(dice);
    const Answer all = find_answer(one, catalog::get_calibration());
    if (!all.best) continue;
    for (i64 rounds = 0;; ++rounds) {
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

/// Ended before it looked at anything, a search says so.
TEST(Answer, SaysWhatItDidNotDecide) {
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
