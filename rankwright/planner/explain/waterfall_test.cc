#include "rankwright/planner/explain/waterfall.h"

#include <gtest/gtest.h>

#include "rankwright/planner/explain/explain_view.h"
#include "tests/support/golden.h"
#include "tests/support/typed_configs.h"

namespace rankwright::planner {
namespace waterfall_test {

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
  const Waterfall waterfall = waterfall_of(kAlone);
  ASSERT_FALSE(waterfall.bars.empty());
  for (const Waterfall::Bar& bar : waterfall.bars) {
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
  // tp 4 is on NVLink. 16 microbatches are sent forward and backward over InfiniBand: 32 calls. 2
  // stages and 16 microbatches: 1 of 17 slots is idle. The head makes pp rank 1 the slowest.
  std::string text;
  for (const Waterfall::Bar& bar : waterfall_of(kPlan).bars)
    text += bar.name + ": " + bar.remark + "\n";
  golden::expect("planner/waterfall-remarks.txt", text);
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
