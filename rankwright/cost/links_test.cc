#include "rankwright/cost/links.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "tests/support/timed_configs.h"
#include "tests/support/typed_configs.h"

namespace rankwright::cost {
namespace links_test {

const std::string kTwoNodes = "model: llama-3.1-8b\ncluster: dgx-h100 x 2\n";

TEST(Links, OneRankTakesNoTime) {
  const rankwright::plan::TrainingConfig config =
      config_of(kTwoNodes + "parallelism: {dp_size: 16}\n");
  const Links links(config, catalog::get_calibration());
  EXPECT_EQ(links.time(plan::Op::all_reduce, 1.0_GB, mesh::GroupKind::tp), Seconds{});
  EXPECT_EQ(links.single_rail(plan::Op::all_reduce, 1.0_GB, mesh::GroupKind::tp), Seconds{});
  EXPECT_EQ(links.all_to_all(1.0_GB, 1.0_GB, 1, mesh::GroupKind::ep), Seconds{});
}

TEST(Links, NicsReachLessDuringAStep) {
  // Two nodes with tp 8 inside each, so dp has one rank per node: an all-gather of n bytes sends
  // n / 2 over its own NIC of 50 GB/s. It reaches nic_share of that alone, and nic_training of the
  // latter during a step.
  const rankwright::plan::TrainingConfig config =
      config_of(kTwoNodes + "parallelism: {tp_size: 8, dp_size: 2}\n");
  const Links links(config, catalog::get_calibration());
  const cluster::Calibration& c = catalog::get_calibration();
  const BytesPerSecond reached =
      c[cluster::Constant::nic_share] * c[cluster::Constant::nic_training] * BytesPerSecond{50e9};
  const Bytes large{1e14};
  EXPECT_NEAR(
      links.time(plan::Op::all_gather, large, mesh::GroupKind::shard) / (large / 2 / reached), 1,
      1e-3);
}

TEST(Links, SharedNicTakesUpToMemberTimesAsLong) {
  // The eight members of a node share one NIC instead of eight; NVLink inside the node keeps the
  // factor below 8.
  const rankwright::plan::TrainingConfig config =
      config_of(kTwoNodes + "parallelism: {dp_size: 16}\n");
  const Links links(config, catalog::get_calibration());
  const Bytes large{1e14};
  const double longer = links.single_rail(plan::Op::all_reduce, large, mesh::GroupKind::shard) /
                        links.time(plan::Op::all_reduce, large, mesh::GroupKind::shard);
  EXPECT_GT(longer, 4);
  EXPECT_LE(longer, 8.001);
}

TEST(Links, ExposeAFractionOfTrafficBetweenNodes) {
  const rankwright::plan::TrainingConfig config = config_of(
      "model: mixtral-8x7b\ncluster: dgx-h100 x 2\nparallelism: {dp_size: 16, ep_size: 8, "
      "order: tp-cp-dp-ep-pp, zero_stage: 1}\n");
  const Links links(config, catalog::get_calibration());
  ASSERT_GT(links.span(mesh::GroupKind::ep).level, 0);
  const Seconds all = links.all_to_all(1.0_GB, 1.0_GB, 1, mesh::GroupKind::ep);
  EXPECT_LT(links.all_to_all(1.0_GB, 1.0_GB, 0.5, mesh::GroupKind::ep), all);
  // Both run at once, so the longer one counts.
  EXPECT_EQ(all, links.time(plan::Op::all_to_all, 1.0_GB, mesh::GroupKind::ep));
  // If all traffic between nodes is overlapped, the part inside the node remains.
  EXPECT_GT(links.all_to_all(1.0_GB, 1.0_GB, 0, mesh::GroupKind::ep), Seconds{});
}

RC_GTEST_PROP(Links, AreNeverSlowerWithMoreBandwidth, ()) {
  const rankwright::plan::TrainingConfig config = sample::random_timed_config();
  rankwright::plan::TrainingConfig faster = config;
  for (cluster::Level& level : faster.cluster.levels) level.bandwidth = 2 * level.bandwidth;
  const Links before(config, catalog::get_calibration()), after(faster, catalog::get_calibration());
  const Bytes size{double(*rc::gen::inRange(1, 1000000000))};
  for (const mesh::GroupKind kind :
       {mesh::GroupKind::tp, mesh::GroupKind::cp, mesh::GroupKind::pp, mesh::GroupKind::shard})
    for (const plan::Op op : {plan::Op::all_gather, plan::Op::reduce_scatter, plan::Op::all_reduce})
      RC_ASSERT(after.time(op, size, kind) <= before.time(op, size, kind));
}

}  // namespace links_test
}  // namespace rankwright::cost
