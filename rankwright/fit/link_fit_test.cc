#include "rankwright/fit/link_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/collective.h"
#include "rankwright/plan/plan.h"
#include "tests/support/any_config.h"
#include "tests/support/cluster_parts.h"
#include "tests/support/finding_lines.h"
#include "tests/support/golden.h"

namespace rankwright::fit {
namespace link_fit_test {

using testing::HasSubstr;

/// Returns what the model predicts for this cluster, from 8 bytes to 8 GiB.
MeasuredSeries modelled(const cluster::Cluster& cluster, plan::Op op, i64 ranks, i64 hosts) {
  MeasuredSeries series{.file = "nccl.txt", .op = op, .ranks = ranks, .hosts = hosts};
  const plan::Plan plan{.dp = ranks};
  const mesh::GroupShape shape =
      make_group_shape(plan.meshes(), mesh::GroupKind::dp, plan.shards());
  const mesh::Span group_span = span(shape, ranks, {}, cluster);
  for (double size = 8; size <= 0x1p33; size *= 2)
    series.calls.push_back(
        {Bytes{size}, cost::estimate_collective_time(op, Bytes{size}, group_span, cluster,
                                                     catalog::get_calibration())});
  return series;
}

bool near(double found, double wanted) { return std::abs(found / wanted - 1) < 0.01; }

RC_GTEST_PROP(LinkFit, SimulatedMeasurements_RecoverTheLink, ()) {
  const i64 hosts = any_config::one_of({1, 2, 4});
  const cluster::Cluster start = *catalog::find_cluster(fmt::format("dgx-h100 x {}", hosts));
  const std::size_t level = hosts == 1 ? 0 : 1;
  cluster::Cluster real = start;
  real.levels[level].bandwidth =
      (hosts == 1 ? 300.0_GBps : 12.5_GBps) * any_config::random_share();  // 1 to 2 times
  real.levels[level].latency = any_config::random_share() * 2.0_us;
  const plan::Op op = *rc::gen::element(plan::Op::all_reduce, plan::Op::all_gather,
                                        plan::Op::reduce_scatter, plan::Op::all_to_all);
  cluster::Cluster found = start;
  Diagnostics findings;
  RC_ASSERT(calibrate_links(found, modelled(real, op, 8 * hosts, hosts), findings));
  RC_ASSERT(findings.empty());
  RC_ASSERT(near(found.levels[level].bandwidth.value, real.levels[level].bandwidth.value));
  RC_ASSERT(near(found.levels[level].latency.value, real.levels[level].latency.value));
  RC_ASSERT(found.levels[level].origin == cluster::Origin::measured);
  RC_ASSERT(found.levels[1 - level] == start.levels[1 - level]);
}

// A send between two hosts with one rank each: 1 GB at 20 GB/s takes 50 ms, and the model reaches
// only a fraction of the link.
TEST(LinkFit, OneRankPerHost_FitsTheBandwidth) {
  cluster::Cluster cluster = *catalog::find_cluster("dgx-h100 x 2");
  MeasuredSeries series{.op = plan::Op::send_recv, .ranks = 2, .hosts = 2};
  series.calls = {{1.0_GB, 50.0_ms}};
  Diagnostics findings;
  ASSERT_TRUE(calibrate_links(cluster, series, findings));
  const double share = catalog::get_calibration()[cluster::Constant::nic_share];
  EXPECT_NEAR(cluster.levels[1].bandwidth.value * share, 20e9, 0.02e9);
  EXPECT_EQ(cluster.levels[1].latency, catalog::find_cluster("dgx-h100 x 2")->levels[1].latency);
  EXPECT_EQ(cluster.levels[1].latency_origin, cluster::Origin::assumed);
}

// The output shows two hosts with H100 and nothing else.
TEST(LinkFit, NcclTestsOutput_MakesACluster) {
  clusters::Reading reading =
      clusters::read("nccl-tests", clusters::sample("nccl-tests-h100-2.txt"));
  const std::string cluster = clusters::resolved(reading);
  EXPECT_THAT(cluster, HasSubstr("h100-sxm: nvlink 8 x 450 GB/s (assumed), infiniband 2 x "));
  EXPECT_THAT(cluster, HasSubstr("(measured)"));
  golden::expect("fit/nccl-tests-findings.txt", format_findings(reading.findings));
}

TEST(LinkFit, RanksThatDoNotFitTheCluster_AreRejected) {
  cluster::Cluster cluster = *catalog::find_cluster("dgx-h100 x 2");
  Diagnostics findings;
  EXPECT_FALSE(
      calibrate_links(cluster, {.op = plan::Op::all_reduce, .ranks = 24, .hosts = 3}, findings));
  EXPECT_FALSE(
      calibrate_links(cluster, {.op = plan::Op::all_reduce, .ranks = 1, .hosts = 1}, findings));
  EXPECT_FALSE(
      calibrate_links(cluster, {.op = plan::Op::all_reduce, .ranks = 3, .hosts = 2}, findings));
  EXPECT_EQ(findings.size(), 3u);
  EXPECT_EQ(cluster, *catalog::find_cluster("dgx-h100 x 2"));
}

// No link is that fast, so the cluster is unchanged.
TEST(LinkFit, ImpossibleTimes_ChangeNothing) {
  cluster::Cluster cluster = *catalog::find_cluster("dgx-h100 x 2");
  MeasuredSeries series{.op = plan::Op::all_reduce, .ranks = 16, .hosts = 2};
  series.calls = {{Bytes{8}, Seconds{1e-12}}, {1.0_GB, Seconds{1e-12}}};
  Diagnostics findings;
  calibrate_links(cluster, series, findings);
  EXPECT_EQ(findings.size(), 2u);
  EXPECT_EQ(cluster, *catalog::find_cluster("dgx-h100 x 2"));
}

}  // namespace link_fit_test
}  // namespace rankwright::fit
