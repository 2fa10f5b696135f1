#include "rankwright/cost/item_traffic.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/support/sample.h"
#include "tests/support/typed_configs.h"

namespace rankwright::cost {
namespace item_traffic_test {

// 80 layers on 4 pp ranks, 32 microbatches: 20 x 32 x 10 = 6,400 collectives inside layers. The
// last rank has the head besides: 32 x (1 gather + 1 gradient + 3 of the loss) and 2 x 32 of the
// gather and scatter around it.
TEST(ItemTraffic, IsThatOfOneRank) {
  const plan::TrainingConfig config = config_of(
      "model: llama-3.1-70b\ncluster: dgx-h100 x 8\nparallelism: {tp_size: 8, pp_size: 4, "
      "dp_size: 2}\njob: {global_batch: 64, sequence: 4096}\n");
  const ItemTraffic tp = sum_item_traffic(config, Item::tp);
  i64 calls = 0;
  for (const TrafficCost& row : estimate_traffic(config, tp.pp_rank))
    if (find_item(row.traffic.kind) == Item::tp) calls += row.traffic.calls;
  EXPECT_EQ(tp.calls, calls);
  EXPECT_GE(tp.calls, 6400);
  EXPECT_EQ(tp.level, 0);
}

// All traffic but the 4 bytes of the gradient norm stays inside the node.
TEST(ItemTraffic, LevelIsThatOfMostOfTheTime) {
  const plan::TrainingConfig config = config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 2\nparallelism: {pp_size: 2, dp_size: 8, "
      "zero_stage: 1}\njob: {global_batch: 64, sequence: 4096}\n");
  const ItemTraffic dp = sum_item_traffic(config, Item::dp);
  EXPECT_EQ(dp.level, 0);
}

RC_GTEST_PROP(ItemTraffic, ItemsWithoutCallsHaveNoLevel, ()) {
  const plan::TrainingConfig config = sample::random_timed_config();
  for (const ItemTraffic& one : sum_traffic_by_item(config)) {
    RC_ASSERT((one.calls == 0) == (one.level < 0));
    RC_ASSERT(one.innermost <= (1 + 1e-9) * one.total);
  }
}

TEST(LongestTraffic, EveryKindIsOnThePpRankWithMostTime) {
  const plan::TrainingConfig config = config_of(
      "model: llama-3.1-70b\ncluster: dgx-h100 x 8\nparallelism: {tp_size: 8, pp_size: 4, "
      "dp_size: 2}\njob: {global_batch: 64, sequence: 4096}\n");
  const std::vector<LongestTraffic> all = list_longest_traffic(config);
  ASSERT_FALSE(all.empty());
  for (const LongestTraffic& one : all)
    for (i64 r = 0; r < config.plan.pp; ++r)
      for (const TrafficCost& row : estimate_traffic(config, r)) {
        if (row.traffic.kind != one.cost.traffic.kind) continue;
        EXPECT_LE(row.total, one.cost.total);
      }
}

TEST(LinkLoad, TensorParallelOnTwoNodes_CrossesWithAShareOfItsBytes) {
  // tp 16 on two nodes of 8, each GPU with its own NIC. A ring all-gather or reduce-scatter of S
  // bytes moves 15/16 S from node to node, over 8 NICs; a hierarchical one moves S / 2, over 8
  // NICs. The other collectives are small.
  const plan::TrainingConfig config = config_of(
      "model: llama-3.1-70b\ncluster: dgx-h100 x 8\nparallelism: {tp_size: 16, pp_size: 4}\n"
      "job: {global_batch: 64, sequence: 8192}\n");
  const LinkLoad load = sum_link_load(config, Item::tp);
  EXPECT_EQ(load.level, 1);
  const ItemTraffic tp = sum_item_traffic(config, Item::tp);
  Bytes expected{};
  for (const TrafficCost& row : estimate_traffic(config, tp.pp_rank)) {
    if (find_item(row.traffic.kind) != Item::tp) continue;
    const double moved = row.algorithm == Algorithm::ring ? 15.0 / 16 : 1.0 / 2;
    if (row.traffic.op != plan::Op::all_reduce) {
      expected += moved / 8 * row.traffic.total;
      continue;
    }
    EXPECT_LT(row.traffic.total, 0.01 * tp.bytes);
  }
  EXPECT_NEAR(load.bytes / expected, 1, 0.01);
}

TEST(LinkLoad, SharedLink_CarriesTheBytesOfAllGroups) {
  // One NIC per node carries what eight NICs carried, at its own bandwidth.
  const std::string plan =
      "model: llama-3.1-8b\nparallelism: {tp_size: 8, dp_size: 8}\n"
      "job: {global_batch: 64, sequence: 4096}\n";
  const LinkLoad eight = sum_link_load(config_of(plan + "cluster: dgx-h100 x 8\n"), Item::dp);
  const LinkLoad one = sum_link_load(config_of(plan + "cluster: hgx-h100-1nic x 8\n"), Item::dp);
  EXPECT_NEAR(one.bytes / eight.bytes, 8, 1e-6);
}

RC_GTEST_PROP(LinkLoad, TimeOnTheLinkIsPartOfTheTotal, ()) {
  const plan::TrainingConfig config = sample::random_timed_config();
  const ItemTraffic tp = sum_item_traffic(config, Item::tp);
  RC_PRE(tp.calls > 0);
  const LinkLoad load = sum_link_load(config, Item::tp);
  RC_ASSERT(load.bytes > Bytes{});
  RC_ASSERT(load.time() <= (1 + 1e-9) * tp.total);
}

}  // namespace item_traffic_test
}  // namespace rankwright::cost
