#include "rankwright/cost/faults/slow_link.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/cost/faults/straggler.h"
#include "rankwright/cost/item_traffic.h"
#include "rankwright/cost/traffic_cost.h"
#include "rankwright/plan/constraint_violation.h"
#include "tests/support/typed_configs.h"

namespace rankwright::cost {
namespace slow_link_test {

const std::string kPlan =
    "model: llama-3.1-8b\ncluster: dgx-h100 x 4\njob: {global_batch: 64, sequence: 2048}\n"
    "parallelism: {pp_size: 2, tp_size: 4, dp_size: 4}\n";

LinkLoss loss(const rankwright::plan::TrainingConfig& config, int level, double factor) {
  const SlowLink links[] = {{level, factor * config.cluster.levels[std::size_t(level)].bandwidth}};
  return estimate_link_loss(config, catalog::get_calibration(), links);
}

TEST(LinkLoss, IsZeroAtTheSpecifiedBandwidth) {
  const LinkLoss none = loss(config_of(kPlan), 1, 1);
  EXPECT_EQ(none.before.total(), none.after.total());
  EXPECT_EQ(none.lost(), 0);
}

TEST(LinkLoss, AffectsItemsThatCrossTheLink) {
  // tp 4 stays on NVLink: InfiniBand at half speed does not change tp but lengthens data
  // parallelism (4 replicas over nodes). NVLink at half speed does the opposite.
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  const LinkLoss outer = loss(config, 1, 0.5), inner = loss(config, 0, 0.5);
  EXPECT_EQ(outer.after[Item::tp], outer.before[Item::tp]);
  EXPECT_GT(outer.after[Item::dp], outer.before[Item::dp]);
  EXPECT_GT(inner.after[Item::tp], 1.2 * inner.before[Item::tp]);
  ASSERT_FALSE(outer.crossings.empty());
  for (const LinkLoss::Crossing& row : outer.crossings) EXPECT_NE(row.group, mesh::GroupKind::tp);
  EXPECT_TRUE(
      std::any_of(inner.crossings.begin(), inner.crossings.end(),
                  [](const LinkLoss::Crossing& r) { return r.group == mesh::GroupKind::tp; }));
}

TEST(LinkLoss, ListsTrafficOfThePpRankOnWhichItTakesLongest) {
  // The rows before the slowdown are those that `explain` lists, whatever the slowest pp rank is.
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.1-70b\ncluster: dgx-h100 x 8\njob: {global_batch: 64, sequence: 4096}\n"
      "parallelism: {pp_size: 4, tp_size: 8, dp_size: 2}\n");
  const LinkLoss out = loss(config, 1, 0.5);
  const std::vector<LongestTraffic> all = list_longest_traffic(config);
  ASSERT_FALSE(out.crossings.empty());
  for (const LinkLoss::Crossing& row : out.crossings) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const LongestTraffic& one) {
      return one.cost.traffic.kind == row.kind;
    });
    ASSERT_NE(same, all.end());
    EXPECT_EQ(row.before, same->cost.total);
    EXPECT_EQ(row.calls, same->cost.traffic.calls);
    EXPECT_EQ(row.pp_rank, same->pp_rank);
    EXPECT_GT(row.after, row.before);
  }
}

TEST(LinkLoss, IncludesKindsOfWhichOnlySomeGroupsCross) {
  // dp 3 on nodes of 8: ranks 0 1 2 share a node, 6 7 8 do not.
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 3\njob: {global_batch: 48, sequence: 2048}\n"
      "parallelism: {dp_size: 3, pp_size: 8}\n");
  const LinkLoss out = loss(config, 1, 0.5);
  EXPECT_TRUE(std::any_of(out.crossings.begin(), out.crossings.end(),
                          [](const LinkLoss::Crossing& r) { return r.ranks == 3; }));
}

TEST(LinkLoss, BestOrderMatchesBruteForce) {
  // None of the 120 orders of the five axes is better than the one that is returned.
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  for (const double factor : {0.02, 0.25, 1.0}) {
    const LinkLoss out = loss(config, 1, factor);
    rankwright::plan::TrainingConfig slow = config;
    slow.cluster = with_links(config.cluster, out.links);
    mesh::Order order = mesh::kDefaultOrder;
    std::sort(order.begin(), order.end());
    int tried = 0;
    do {
      slow.plan.order = order;
      if (find_first_violation(slow)) continue;
      ++tried;
      EXPECT_GE(estimate_step_time(slow, catalog::get_calibration()).total(),
                (1 - kMinMitigationGain) * out.best.after)
          << show(order);
    } while (std::next_permutation(order.begin(), order.end()));
    EXPECT_GT(tried, 1);
    slow.plan.order = out.best.order;
    EXPECT_EQ(estimate_closely(slow, catalog::get_calibration()).time(), out.best.after);
  }
}

TEST(DistinctOrders, StartWithThePlansOwnAndAreUnique) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  const std::vector<mesh::Order> orders = list_distinct_orders(config.plan);
  EXPECT_EQ(orders.size(), 6u);  // of tp, dp and pp
  EXPECT_EQ(orders.front(), config.plan.order);
  EXPECT_EQ(std::set<mesh::Order>(orders.begin(), orders.end()).size(), 6u);
}

RC_GTEST_PROP(LinkLoss, NeverDecreasesWithLessBandwidth, ()) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  const int level = *rc::gen::inRange(0, 2);
  const double more = *rc::gen::inRange(10, 1000) / 1000.0;
  const double less = more * *rc::gen::inRange(10, 1000) / 1000.0;
  RC_ASSERT(loss(config, level, less).after.total() >=
            loss(config, level, more).after.total() * (1 - 1e-12));
}

}  // namespace slow_link_test
}  // namespace rankwright::cost
