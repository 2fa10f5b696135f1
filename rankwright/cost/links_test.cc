#include "rankwright/cost/links.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "tests/support/timed_configs.h"
#include "tests/support/typed_configs.h"

namespace rankwright {
namespace links_test {

const std::string kTwoNodes = "model: llama-3.1-8b\ncluster: dgx-h100 x 2\n";

TEST(Links, CarryNothingForAGroupOfOne) {
  const rankwright::TrainingConfig config = config_of(kTwoNodes + "parallelism: {dp_size: 16}\n");
  const Links links(config, calibration());
  EXPECT_EQ(links.time(Op::all_reduce, 1.0_GB, GroupKind::tp), Seconds{});
  EXPECT_EQ(links.single_rail(Op::all_reduce, 1.0_GB, GroupKind::tp), Seconds{});
  EXPECT_EQ(links.all_to_all(1.0_GB, 1.0_GB, 1, GroupKind::ep), Seconds{});
}

TEST(Links, ReachInAStepAShareOfWhatANicReaches) {
  // Two nodes, tp 8 inside each, so dp has one rank in each: an all-gather of n bytes sends n / 2
  // over its own NIC of 50 GB/s, of which a ring reaches nic_share and a step nic_training of that.
  const rankwright::TrainingConfig config =
      config_of(kTwoNodes + "parallelism: {tp_size: 8, dp_size: 2}\n");
  const Links links(config, calibration());
  const Calibration& c = calibration();
  const BytesPerSecond reached =
      c[Constant::nic_share] * c[Constant::nic_training] * BytesPerSecond{50e9};
  const Bytes large{1e14};
  EXPECT_NEAR(links.time(Op::all_gather, large, GroupKind::shard) / (large / 2 / reached), 1, 1e-3);
}

TEST(Links, OfANodeThatShareOneNicTakeUpToAsManyTimesAsLong) {
  // Eight members of a node behind one NIC instead of eight; NVLink inside keeps it below 8 times.
  const rankwright::TrainingConfig config = config_of(kTwoNodes + "parallelism: {dp_size: 16}\n");
  const Links links(config, calibration());
  const Bytes large{1e14};
  const double longer = links.single_rail(Op::all_reduce, large, GroupKind::shard) /
                        links.time(Op::all_reduce, large, GroupKind::shard);
  EXPECT_GT(longer, 4);
  EXPECT_LE(longer, 8.001);
}

TEST(Links, HideAPartOfWhatLeavesTheNode) {
  const rankwright::TrainingConfig config = config_of(
      "model: mixtral-8x7b\ncluster: dgx-h100 x 2\nparallelism: {dp_size: 16, ep_size: 8, "
      "order: tp-cp-dp-ep-pp, zero_stage: 1}\n");
  const Links links(config, calibration());
  ASSERT_GT(links.span(GroupKind::ep).level, 0);
  const Seconds all = links.all_to_all(1.0_GB, 1.0_GB, 1, GroupKind::ep);
  EXPECT_LT(links.all_to_all(1.0_GB, 1.0_GB, 0.5, GroupKind::ep), all);
  // Both go on at once: the longer counts.
  EXPECT_EQ(all, links.time(Op::all_to_all, 1.0_GB, GroupKind::ep));
  // Where all is hidden, what stays inside is left.
  EXPECT_GT(links.all_to_all(1.0_GB, 1.0_GB, 0, GroupKind::ep), Seconds{});
}

RC_GTEST_PROP(Links, AreNeverSlowerWithMoreBandwidth, ()) {
  const rankwright::TrainingConfig config = sample::random_timed();
  rankwright::TrainingConfig faster = config;
  for (Level& level : faster.cluster.levels) level.bandwidth = 2 * level.bandwidth;
  const Links before(config, calibration()), after(faster, calibration());
  const Bytes size{double(*rc::gen::inRange(1, 1000000000))};
  for (const GroupKind kind : {GroupKind::tp, GroupKind::cp, GroupKind::pp, GroupKind::shard})
    for (const Op op : {Op::all_gather, Op::reduce_scatter, Op::all_reduce})
      RC_ASSERT(after.time(op, size, kind) <= before.time(op, size, kind));
}

}  // namespace links_test
}  // namespace rankwright
