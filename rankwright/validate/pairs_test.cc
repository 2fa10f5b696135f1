#include "rankwright/validate/pairs.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace rankwright::validate {
namespace pairs_test {

using Groups = std::vector<std::vector<double>>;

TEST(PairErrors, NeedTwoRunsPerGroup) {
  EXPECT_EQ(compute_pair_errors({}), PairErrors{});
  EXPECT_EQ(compute_pair_errors({{}, {0.3}}), PairErrors{});
  const PairErrors same = compute_pair_errors({{0.2, 0.2}});
  EXPECT_EQ(same.pairs, 1);
  EXPECT_EQ(same.median, 0);
}

TEST(PairErrors, WeighGroupsEqually) {
  // One group of 1 pair: ln 1.3 (weight 1). One of 3: ln 1.1, ln 1.2, ln 1.32 (a third each).
  // The total weight is 2; half of it is reached at 1/3 + 1/3 + 1, nine tenths at all of it.
  const PairErrors e =
      compute_pair_errors({{0, std::log(1.3)}, {-std::log(1.1), 0, std::log(1.2)}, {5.0}});
  EXPECT_EQ(e.pairs, 4);
  EXPECT_EQ(e.groups, 2);
  EXPECT_NEAR(e.median, 0.3, 1e-12);
  EXPECT_NEAR(e.p90, 0.32, 1e-12);  // 1.1 x 1.2
}

TEST(PairErrors, OneGroupGivesItsMedianAndP90) {
  // 0, 1, 3, 7, 15 differ by 1 2 3 4 6 7 8 12 14 15: the fifth is 6, the ninth 14.
  std::vector<double> runs;
  for (const double r : {15, 0, 7, 3, 1}) runs.push_back(r / 100);
  const PairErrors e = compute_pair_errors({runs});
  EXPECT_NEAR(e.median, std::expm1(0.06), 1e-12);
  EXPECT_NEAR(e.p90, std::expm1(0.14), 1e-12);
}

/// Returns groups of multiples of 0.01, so that many values are equal.
Groups random_groups() {
  const auto runs = rc::gen::container<std::vector<int>>(rc::gen::inRange(-40, 40));
  Groups groups;
  for (const std::vector<int>& group : *rc::gen::container<std::vector<std::vector<int>>>(runs)) {
    groups.emplace_back();
    for (const int r : group) groups.back().push_back(r / 100.0);
  }
  return groups;
}

/// Computes the quantile `share` by listing every pair.
double find_quantile(const Groups& groups, double share) {
  struct Pair {
    double difference, weight;
  };
  std::vector<Pair> pairs;
  double total = 0, sum = 0;
  for (const std::vector<double>& group : groups) {
    const double count = double(group.size()) * (double(group.size()) - 1) / 2;
    if (group.size() > 1) total += 1;
    for (std::size_t i = 0; i < group.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        pairs.push_back({std::abs(group[i] - group[k]), 1 / count});
  }
  std::sort(pairs.begin(), pairs.end(),
            [](const Pair& a, const Pair& b) { return a.difference < b.difference; });
  for (const Pair& pair : pairs)
    if ((sum += pair.weight) >= (share - 1e-9) * total) return std::expm1(pair.difference);
  return 0;
}

RC_GTEST_PROP(PairErrors, MatchBruteForce, ()) {
  const Groups groups = random_groups();
  const PairErrors e = compute_pair_errors(groups);
  RC_ASSERT(std::abs(e.median - find_quantile(groups, 0.5)) < 1e-9);
  RC_ASSERT(std::abs(e.p90 - find_quantile(groups, 0.9)) < 1e-9);
  RC_ASSERT(e.median <= e.p90);
}

RC_GTEST_PROP(PairErrors, IgnoreAFactorCommonToAGroup, ()) {
  Groups groups = random_groups();
  const PairErrors before = compute_pair_errors(groups);
  for (std::vector<double>& group : groups) {
    const double common = *rc::gen::inRange(-8, 8);  // ln of a factor common to its predictions
    for (double& r : group) r += common;
  }
  const PairErrors after = compute_pair_errors(groups);
  RC_ASSERT(after.pairs == before.pairs && after.groups == before.groups);
  // Rounding: equal differences may diverge by about 1e-15.
  RC_ASSERT(std::abs(after.median - before.median) < 1e-9);
  RC_ASSERT(std::abs(after.p90 - before.p90) < 1e-9);
}

Effect effect(double measured, double predicted) {
  return {.measured = measured, .predicted = predicted};
}

TEST(Effect, HasTheRightSignBeyondNoise) {
  EXPECT_TRUE(effect(1.5, 1.03).right_sign());
  EXPECT_TRUE(effect(0.5, 0.9).right_sign());
  EXPECT_TRUE(effect(1.01, 0.99).right_sign());  // neither is more than 2 %
  EXPECT_FALSE(effect(1.5, 1.0).right_sign());
  EXPECT_FALSE(effect(1.1, 0.9).right_sign());
}

TEST(Effect, HasTheRightSizeWithinAFactorOfTwo) {
  EXPECT_TRUE(effect(1.44, 1.21).right_size());  // 1.21 = 1.1^2, 1.44 = 1.2^2 < 1.1^4
  EXPECT_FALSE(effect(1.5, 1.1).right_size());   // 1.1^2 = 1.21
  EXPECT_FALSE(effect(1.1, 0.95).right_size());  // the other way
  EXPECT_TRUE(effect(1.0, 1.01).right_size());   // they differ by noise
}

TEST(Effect, OnMemoryIsNoiseWithinOnePercent) {
  Effect one{.figure = Figure::memory, .measured = 0.98, .predicted = 0.985};
  EXPECT_TRUE(one.right_sign());  // on speed, both would be noise
  one.predicted = 0.995;
  EXPECT_FALSE(one.right_sign());
  EXPECT_FALSE(one.right_size());  // ln 0.98 = -0.0202 is four times ln 0.995
}

TEST(Effects, ReadTheColumns) {
  const Csv table = *parse_csv("effect,base,changed,source\ngraphs,a,b,somewhere\n", "e.csv");
  EXPECT_TRUE(holds_effects(table));
  const auto pairs = read_effects(table, "e.csv");
  ASSERT_TRUE(pairs);
  EXPECT_EQ(pairs->front().changed, "b");
  const Csv lacks = *parse_csv("effect,changed,source\ngraphs,b,somewhere\n", "e.csv");
  EXPECT_EQ(read_effects(lacks, "e.csv").error().code, "RW0917");
  const Csv figures = *parse_csv(
      "effect,figure,base,changed,source\ngraphs,memory,a,b,x\ngraphs,,a,b,x\n", "e.csv");
  const auto two = read_effects(figures, "e.csv");
  ASSERT_TRUE(two);
  EXPECT_EQ((*two)[0].figure, Figure::memory);
  EXPECT_EQ((*two)[1].figure, Figure::speed);
  const Csv other = *parse_csv("effect,figure,base,changed,source\ngraphs,cost,a,b,x\n", "e.csv");
  EXPECT_EQ(read_effects(other, "e.csv").error().code, "RW0917");
}

}  // namespace pairs_test
}  // namespace rankwright::validate
