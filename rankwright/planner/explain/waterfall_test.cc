#include "rankwright/planner/explain/waterfall.h"

#include <gmock/gmock.h>

#include "rankwright/planner/explain/explain_view.h"
#include "tests/support/typed_configs.h"

namespace rankwright::planner {
namespace waterfall_test {

using ::testing::HasSubstr;

const std::string kPlan =
    "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 32, sequence: 4096}\n"
    "parallelism: {tp_size: 4, pp_size: 2, dp_size: 2, zero_stage: 1}\n";

const std::string kAlone =
    "model: llama-3.2-1b\ncluster: dgx-h100 x 1\nworld_size: 1\nparallelism: {dp_size: 1}\n";

Waterfall waterfall_of(const std::string& plan) {
  return make_explain_view(config_of(plan)).waterfall;
}

const Waterfall::Bar& bar_of(const Waterfall& waterfall, cost::Item item) {
  for (const Waterfall::Bar& bar : waterfall.bars)
    if (bar.item == item) return bar;
  ADD_FAILURE() << row(item).name << " is not there";
  return waterfall.bars.front();
}

TEST(Waterfall, ItemsWithoutTime_AreLeftOut) {
  for (const Waterfall::Bar& bar : waterfall_of(kAlone).bars) {
    EXPECT_GT(bar.time, Seconds{}) << bar.name;
    EXPECT_TRUE(bar.computes) << bar.name;
  }
}

TEST(Waterfall, Bars_AddUpToTheStep) {
  const Waterfall waterfall = waterfall_of(kPlan);
  Seconds sum{};
  double shares = 0;
  for (const Waterfall::Bar& bar : waterfall.bars) sum += bar.time, shares += bar.share;
  EXPECT_NEAR(sum / waterfall.total, 1, 1e-12);
  EXPECT_NEAR(shares, 1, 1e-12);
}

TEST(Waterfall, Remarks_NameLinksCallsAndSlots) {
  const Waterfall waterfall = waterfall_of(kPlan);
  EXPECT_THAT(bar_of(waterfall, cost::Item::tp).remark, HasSubstr("on nvlink"));
  // 16 microbatches, forward and backward.
  EXPECT_THAT(bar_of(waterfall, cost::Item::sends).remark, HasSubstr("32 calls"));
  EXPECT_THAT(bar_of(waterfall, cost::Item::sends).remark, HasSubstr("on infiniband"));
  EXPECT_THAT(bar_of(waterfall, cost::Item::dp).remark, HasSubstr("exposed of "));
  // 2 stages and 16 microbatches: 1 of 17 slots is idle, 5.88 %.
  EXPECT_EQ(bar_of(waterfall, cost::Item::bubble).remark,
            "1f1b, 16 microbatches: ideal bubble 5.88 %");
  EXPECT_THAT(bar_of(waterfall, cost::Item::imbalance).remark,
              HasSubstr("pp rank 1 is the slowest"));
}

TEST(Waterfall, UnpublishedDevice_IsAssumed) {
  const Waterfall known = waterfall_of(kAlone);
  EXPECT_EQ(bar_of(known, cost::Item::matmul).origin, cluster::Origin::calibrated);
  EXPECT_EQ(bar_of(known, cost::Item::optimizer).origin, cluster::Origin::assumed);
  const Waterfall other = waterfall_of(
      "model: llama-3.2-1b\ncluster:\n  device: {name: mine, memory: 80 GB, memory_bandwidth: "
      "2000 GB/s, bf16: 300 TFLOP/s}\n  levels:\n"
      "    - {name: bus, arity: 1, bandwidth: 450 GB/s, latency: 2 us}\n"
      "world_size: 1\nparallelism: {dp_size: 1}\n");
  EXPECT_EQ(bar_of(other, cost::Item::matmul).origin, cluster::Origin::assumed);
  EXPECT_EQ(other.band.rows, 0);
}

}  // namespace waterfall_test
}  // namespace rankwright::planner
