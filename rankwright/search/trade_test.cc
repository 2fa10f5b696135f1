#include "rankwright/search/trade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "tests/support/problems.h"
#include "tests/support/timed_configs.h"

namespace rankwright::search {
namespace trade_test {

using problems::Dice;
using testing::ElementsAre;
using testing::IsEmpty;

/// Returns limits that leave few candidates, because the tests run many searches.
Limits make_narrow_limits() {
  Limits limits;
  limits.schedule = pipeline::Schedule::one_f_one_b;
  limits.recompute = plan::Recompute::none;
  limits.order = mesh::kDefaultOrder;
  limits.even = true;
  limits.cp = {1, 1};
  return limits;
}

/// Makes a problem of 8 layers of hidden size 1024 on hosts of 4 GPUs. Its states take 2.7 GB at 16
/// bytes per parameter.
Problem make_problem(i64 hosts) {
  rankwright::plan::TrainingConfig config = sample::timed(sample::dense_config({.dp = 4 * hosts}));
  config.cluster.levels = {{.name = "nvlink", .arity = 4, .bandwidth = 300.0_GBps},
                           {.name = "ib", .arity = hosts, .bandwidth = 25.0_GBps}};
  config.cluster.host_devices = 4;
  config.world = 4 * hosts;
  config.job.global_batch = 48;
  return make_problem(std::move(config), make_narrow_limits());
}

TEST(CountLadder, HasPowersOfTwoAndOneAndAHalfTimesThem) {
  // Divisors of a host of 8 GPUs, then 1, 2, 3, 4, 6 and 8 hosts.
  EXPECT_THAT(count_ladder(8, 1, 64), ElementsAre(1, 2, 4, 8, 16, 24, 32, 48, 64));
}

TEST(CountLadder, AlwaysHasBothEnds) {
  EXPECT_THAT(count_ladder(8, 3, 40), ElementsAre(3, 4, 8, 16, 24, 32, 40));
  EXPECT_THAT(count_ladder(8, 64, 64), ElementsAre(64));
  EXPECT_THAT(count_ladder(8, 1, 1), ElementsAre(1));
  EXPECT_THAT(count_ladder(1, 1, 4), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(count_ladder(6, 1, 12), ElementsAre(1, 2, 3, 6, 12));
}

TEST(CountLadder, FromOneHost_HasOnlyWholeHosts) {
  EXPECT_THAT(count_ladder(8, 8, 24), ElementsAre(8, 16, 24));
}

TEST(CountLadder, RisesFromMinToMaxForAnyHostSize) {
  for (const i64 host : {1, 3, 4, 8, 72})
    for (const i64 min : {1, 2, 8, 100})
      for (const i64 max : {100, 288, 4096}) {
        const std::vector<i64> counts = count_ladder(host, min, max);
        ASSERT_FALSE(counts.empty());
        EXPECT_EQ(counts.front(), min);
        EXPECT_EQ(counts.back(), max);
        EXPECT_TRUE(std::is_sorted(counts.begin(), counts.end(), std::less_equal<>()))
            << host << " " << min << " " << max;
      }
}

TEST(CountsBetween, AreWholeHostsAtEighthsOfTheDistance) {
  // 384 to 512 hosts: 16 hosts per step.
  EXPECT_THAT(counts_between(8, 3072, 4096), ElementsAre(3200, 3328, 3456, 3584, 3712, 3840, 3968));
  EXPECT_THAT(counts_between(8, 16, 40), ElementsAre(24, 32));
  EXPECT_THAT(counts_between(8, 32, 40), IsEmpty());
  EXPECT_THAT(counts_between(8, 2, 16), ElementsAre(8));
  EXPECT_THAT(counts_between(8, 2, 4), IsEmpty());
  EXPECT_THAT(counts_between(8, 20, 44), ElementsAre(24, 32, 40));
}

/// Returns the smallest count on which a plan fits, by trying all counts.
std::optional<i64> find_first_that_fits(const Problem& problem) {
  const i64 host = problem.config.cluster.host_devices;
  for (i64 count = 1; count <= problem.config.cluster.devices(); ++count) {
    if (count < host ? host % count != 0 : count % host != 0) continue;
    Problem other = problem;
    other.config.world = count;
    if (search(other, catalog::get_calibration()).space.best) return count;
  }
  return std::nullopt;
}

TEST(Fewest, EqualsTryingAllCounts) {
  int fitting = 0;
  for (const double gigabytes : {1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 30.0}) {
    Problem one = make_problem(4);
    one.capacity = Bytes{gigabytes * 1e9};
    const std::optional<CountRow> found = find_fewest_gpus(one, catalog::get_calibration(), {});
    const std::optional<i64> expected = find_first_that_fits(one);
    ASSERT_EQ(found.has_value(), expected.has_value()) << gigabytes;
    if (!found) continue;
    EXPECT_EQ(found->gpus, *expected) << gigabytes;
    EXPECT_TRUE(found->plan->estimate.fits());
    EXPECT_EQ(found->plan->config.plan.ranks(), found->gpus);
    ++fitting;
  }
  EXPECT_GT(fitting, 3);
}

// A stricter verdict never needs fewer GPUs, and the plan of the count has the verdict.
TEST(Fewest, AcceptsOnlyVerdictsOfTheProblem) {
  using V = cost::MemoryVerdict;
  int found = 0;
  for (const double gigabytes : {1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0}) {
    Problem one = make_problem(4);
    one.capacity = Bytes{gigabytes * 1e9};
    i64 more = std::numeric_limits<i64>::max();
    for (const V worst : {V::fits_with_margin, V::tight, V::over_within_error}) {
      one.accepts = worst;
      const std::optional<CountRow> row = find_fewest_gpus(one, catalog::get_calibration(), {});
      if (!row) continue;
      ++found;
      EXPECT_LE(row->plan->estimate.verdict(), worst) << gigabytes;
      EXPECT_LE(row->gpus, more) << gigabytes;
      more = row->gpus;
    }
  }
  EXPECT_GT(found, 10);
}

TEST(Fewest, NothingFits_ReturnsNothing) {
  Problem one = make_problem(2);
  one.capacity = Bytes{1e8};
  EXPECT_FALSE(find_fewest_gpus(one, catalog::get_calibration(), {}));
}

TEST(Fewest, OneGpuIsEnough_ReturnsOneGpu) {
  Problem one = make_problem(1);
  one.capacity = Bytes{1e12};
  ASSERT_TRUE(find_fewest_gpus(one, catalog::get_calibration(), {}));
  EXPECT_EQ(find_fewest_gpus(one, catalog::get_calibration(), {})->gpus, 1);
}

TEST(OverCounts, EachRowEqualsASeparateAnswer) {
  Problem one = make_problem(4);
  one.capacity = Bytes{6e9};
  const std::vector<i64> counts{1, 2, 4, 8, 12, 16};
  const std::vector<CountRow> rows = search_counts(one, counts, catalog::get_calibration(), {});
  ASSERT_EQ(rows.size(), counts.size());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    EXPECT_EQ(rows[k].gpus, counts[k]);
    Problem other = one;
    other.config.world = counts[k];
    const Answer alone = find_possible_answer(other, catalog::get_calibration());
    ASSERT_EQ(rows[k].plan.has_value(), alone.best.has_value()) << counts[k];
    if (rows[k].plan) {
      EXPECT_EQ(rows[k].plan->config.plan, alone.best->config.plan) << counts[k];
      EXPECT_EQ(rows[k].plan->time(), alone.best->time()) << counts[k];
      EXPECT_EQ(rows[k].plan->config.world, counts[k]);
    } else {
      ASSERT_TRUE(rows[k].leanest);
      EXPECT_EQ(rows[k].leanest->memory, alone.leanest->memory);
    }
  }
}

TEST(Trade, PointsKeepTheirLimitAndAreNotDominated) {
  int points = 0;
  for (std::uint64_t seed = 3000; seed < 3040; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    Problem one = problems::random_problem(dice);
    for (int k = 0; k < 8; ++k) problems::narrow(one.limits, dice);
    const SearchResult roomy = search(one, catalog::get_calibration());
    if (!roomy.space.best) continue;
    one.capacity = dice.of<double>({1, 1.1, 1.5}) * roomy.space.best->memory;
    const Answer found = find_answer(one, catalog::get_calibration());
    ASSERT_TRUE(found.best);
    const std::vector<TradePoint> trades =
        find_trade_points(one, found, catalog::get_calibration());
    ASSERT_FALSE(trades.empty());
    EXPECT_EQ(trades[0].gpus, one.config.world);
    EXPECT_EQ(trades[0].plan->config.plan, found.best->config.plan);
    for (const TradePoint& a : trades) {
      if (!a.plan) continue;
      ++points;
      EXPECT_LE(a.plan->estimate.memory.total(), a.limit);
      EXPECT_EQ(a.plan->config.plan.ranks(), a.gpus);
      EXPECT_FALSE(find_first_violation(a.plan->config));
      for (const TradePoint& b : trades) {
        // The answer is always the first point, even if another one dominates it.
        if (&a == &b || !b.plan || &b == &trades.front()) continue;
        EXPECT_FALSE(a.gpus <= b.gpus && a.plan->time() <= b.plan->time() &&
                     a.plan->estimate.memory.total() <= b.plan->estimate.memory.total())
            << a.gpus << " GPUs, " << a.plan->time().value << " s cover " << b.gpus << ", "
            << b.plan->time().value << " s";
      }
    }
  }
  EXPECT_GT(points, 40);
}

}  // namespace trade_test
}  // namespace rankwright::search
