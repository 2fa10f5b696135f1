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

}  // namespace item_traffic_test
}  // namespace rankwright::cost
