#include "rankwright/cost/links.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "rankwright/catalog/catalog.h"
#include "tests/support/timed_configs.h"
#include "tests/support/typed_configs.h"

namespace rankwright::cost {
namespace links_test {

using K = plan::TrafficKind;

const std::string kTwoNodes = "model: llama-3.1-8b\ncluster: dgx-h100 x 2\n";

TEST(Links, OneRankTakesNoTime) {
  const rankwright::plan::TrainingConfig config =
      config_of(kTwoNodes + "parallelism: {dp_size: 16}\n");
  const Links links(config, catalog::get_calibration());
  EXPECT_EQ(links.time(K::tp_all_reduce, plan::Op::all_reduce, 1.0_GB, mesh::GroupKind::tp),
            Seconds{});
  EXPECT_EQ(links.innermost_time(plan::Op::all_reduce, 1.0_GB, mesh::GroupKind::tp), Seconds{});
  EXPECT_EQ(links.time(K::ep_all_to_all, plan::Op::all_to_all, 1.0_GB, mesh::GroupKind::ep),
            Seconds{});
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
  EXPECT_NEAR(links.time(K::dp_all_gather, plan::Op::all_gather, large, mesh::GroupKind::shard) /
                  (large / 2 / reached),
              1, 1e-3);
}

TEST(Links, SharedNicTakesUpToMemberTimesAsLong) {
  // The eight members of a node share one NIC instead of eight; NVLink inside the node keeps the
  // factor below 8.
  rankwright::plan::TrainingConfig config = config_of(kTwoNodes + "parallelism: {dp_size: 16}\n");
  const auto time = [&] {
    return Links(config, catalog::get_calibration())
        .time(K::dp_all_reduce, plan::Op::all_reduce, Bytes{1e14}, mesh::GroupKind::dp_cp);
  };
  const Seconds eight = time();
  config.software.single_rail = true;
  EXPECT_GT(time() / eight, 4);
  EXPECT_LE(time() / eight, 8.001);
}

/// Makes a config of experts on all ranks with the tokens of each going to `active` of them.
rankwright::plan::TrainingConfig experts_on(const std::string& cluster, i64 world, i64 ep,
                                            i64 active) {
  model::Layer layer = sample::sparse_layer();
  layer.ffn.experts = ep;
  layer.ffn.active = active;
  rankwright::plan::TrainingConfig config =
      sample::config_of(sample::model_of({{1, layer}}), {.dp = world, .ep = ep});
  config.cluster = *catalog::find_cluster(cluster);
  return config;
}

Seconds dispatch(const rankwright::plan::TrainingConfig& config, Bytes size) {
  return Links(config, catalog::get_calibration())
      .time(K::ep_all_to_all, plan::Op::all_to_all, size, mesh::GroupKind::ep);
}

/// Returns what an all-to-all reaches of a NIC of 50 GB/s during a step.
BytesPerSecond reached_nic() {
  const cluster::Calibration& c = catalog::get_calibration();
  return c[cluster::Constant::nic_share] * c[cluster::Constant::nic_training] *
         c[cluster::Constant::nic_all_to_all] * 50.0_GBps;
}

/// Returns what it reaches of the NVLink of a DGX H100.
BytesPerSecond reached_link() {
  return catalog::get_calibration()[cluster::Constant::link_share] * 450.0_GBps;
}

/// Returns the time of two transfers that limit each other.
Seconds both(Seconds a, Seconds b) {
  return {std::cbrt(a.value * a.value * a.value + b.value * b.value * b.value)};
}

TEST(Links, ReachedPlaces_MatchTheWorkedExamples) {
  // 8 experts on 4 nodes: 4 x (1 - (3/4)^8) = 3.5995; as many on 8 nodes with one group each, of
  // which a token uses 4. With two groups per node, 4 of 8 groups are on 4 x (1 - (1/2)^2) = 3
  // nodes, of which 3 x (1 - (2/3)^8) = 2.8829 are reached. One place is always reached.
  EXPECT_NEAR(count_reached_places(4, 8), 3.5995, 1e-4);
  EXPECT_NEAR(count_reached_places(8, 8, 8, 4), 3.5995, 1e-4);
  EXPECT_NEAR(count_reached_places(4, 8, 8, 4), 2.8829, 1e-4);
  EXPECT_DOUBLE_EQ(count_reached_places(1, 8), 1);
}

TEST(Links, HybridEpSendsATokenOncePerNode_AllToAllOncePerExpert) {
  // Experts on 4 nodes of 8. A rank sends 3/4 of its buffer to other nodes through its own NIC: all
  // 8 copies per token, or one per node that has an expert of the token. Inside the node a token is
  // sent to each of 32 ranks at most once, to 31 of them over NVLink.
  rankwright::plan::TrainingConfig config = experts_on("dgx-h100 x 4", 32, 32, 8);
  const Bytes large{1e13};
  const Seconds copies = 0.75 * large / reached_nic();
  EXPECT_NEAR(dispatch(config, large) / copies, 1, 1e-4);
  config.plan.dispatcher = plan::Dispatcher::hybridep;
  const Seconds across = 4 * (1 - std::pow(0.75, 8)) / 8 * copies;
  const Seconds inside =
      32 * (1 - std::pow(31.0 / 32, 8)) / 8 * (31.0 / 32 * large / reached_link());
  EXPECT_NEAR(dispatch(config, large) / both(across, inside), 1, 1e-4);
}

TEST(Links, HybridEpInsideANode_SendsATokenOncePerRank) {
  // 8 x (1 - (7/8)^4) = 3.3105 of 8 ranks instead of 4 copies.
  rankwright::plan::TrainingConfig config = experts_on("dgx-h100 x 1", 8, 8, 4);
  const Bytes large{1e13};
  const Seconds copies = dispatch(config, large);
  config.plan.dispatcher = plan::Dispatcher::hybridep;
  EXPECT_NEAR(dispatch(config, large) / copies, 8 * (1 - std::pow(7.0 / 8, 4)) / 4, 1e-4);
}

TEST(Links, DeepEpOnFastLinks_IsLimitedByItsMultiprocessors) {
  // 20 multiprocessors copy less than the NVLink of a B200 carries. They copy 3.3105 of 4 copies,
  // the rank's own too.
  rankwright::plan::TrainingConfig config = experts_on("dgx-b200 x 1", 8, 8, 4);
  config.plan.dispatcher = plan::Dispatcher::deepep;
  const Bytes large{1e13};
  const double rate = 20 * catalog::get_calibration()[cluster::Constant::copy_deepep];
  EXPECT_NEAR(dispatch(config, large) / (3.3105 / 4 * large / (rate * 1.0_GBps)), 1, 1e-4);
}

TEST(Links, GroupLimitedRouting_ReachesFewerNodes) {
  // 8 nodes with one group of experts each, of which a token uses 4: 3.5995 nodes, not
  // 8 x (1 - (7/8)^8) = 5.2511, for 8 copies.
  rankwright::plan::TrainingConfig config = experts_on("dgx-h100 x 8", 64, 64, 8);
  config.plan.dispatcher = plan::Dispatcher::hybridep;
  config.model.runs[0].layer.ffn.groups = 8;
  config.model.runs[0].layer.ffn.active_groups = 4;
  const Bytes large{1e13};
  const Seconds across = 3.5995 / 8 * (7.0 / 8 * large / reached_nic());
  const Seconds inside =
      64 * (1 - std::pow(63.0 / 64, 8)) / 8 * (63.0 / 64 * large / reached_link());
  EXPECT_NEAR(dispatch(config, large) / both(across, inside), 1, 1e-4);
}

TEST(Links, UcclTakesTimePerMessageOverEfaAlone) {
  // 1 MB are 488.28 tokens of 1,024 elements to 2 of 16 experts. On 2 nodes 2 x (1 - (1/2)^2) / 2 =
  // 3/4 of the copies are sent: 366.2 messages, here of 1 ms, beside which all else is short.
  cluster::Calibration slow = catalog::get_calibration();
  slow[cluster::Constant::message_uccl] = 1000;
  const auto time = [&](const std::string& cluster) {
    rankwright::plan::TrainingConfig config = experts_on(cluster, 16, 16, 2);
    config.plan.dispatcher = plan::Dispatcher::uccl;
    return Links(config, slow)
        .time(K::ep_all_to_all, plan::Op::all_to_all, 1.0_MB, mesh::GroupKind::ep);
  };
  EXPECT_NEAR(time("aws-p5 x 2") / 366.2_ms, 1, 0.01);
  EXPECT_LT(time("dgx-h100 x 2"), 1.0_ms);
}

TEST(Links, ExpertGroupAcrossUnevenDomains_TakesAsLongAsItsWorstPlacedMember) {
  // 3 groups of 96 on racks of 72: 72 + 24, 48 + 48, 24 + 72. A member beside 23 others sends 72/96
  // of its buffer through its NIC of 50 GB/s, one beside 71 others only 24/96.
  const rankwright::plan::TrainingConfig config = experts_on("gb200-nvl72 x 4", 288, 96, 8);
  const mesh::Span span = Links(config, catalog::get_calibration()).span(mesh::GroupKind::ep);
  ASSERT_EQ(span.inside[0], 72);
  ASSERT_EQ(span.min[0], 24);
  const Bytes large{1e13};
  EXPECT_NEAR(dispatch(config, large) / (72.0 / 96 * large / reached_nic()), 1, 1e-4);
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
      RC_ASSERT(after.time(K::dp_all_gather, op, size, kind) <=
                before.time(K::dp_all_gather, op, size, kind));
}

}  // namespace links_test
}  // namespace rankwright::cost
