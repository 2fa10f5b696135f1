#include "rankwright/fit/probed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "rankwright/export/cluster_file.h"
#include "rankwright/import/cluster/cluster_file.h"
#include "tests/support/any_config.h"
#include "tests/support/golden.h"

namespace rankwright::fit {
namespace probed_test {

using testing::HasSubstr;

/// Makes a cluster of measured CPUs with `inside` ranks per host.
cluster::Cluster cpus(i64 hosts, i64 inside) {
  cluster::Cluster cluster{.name = "probed", .host_devices = inside};
  cluster.device = {.name = "cpu",
                    .memory = 1.0_GB,
                    .memory_bandwidth = 4.0_GBps,
                    .bf16 = 0.02_TFLOPS,
                    .generation = "cpu",
                    .best_matmul = 0.02_TFLOPS,
                    .launch = 5.0_us,
                    .source = "made up"};
  cluster.levels.push_back({.name = "host",
                            .arity = inside,
                            .bandwidth = 0.4_GBps,
                            .latency = 200.0_us,
                            .origin = cluster::Origin::measured,
                            .latency_origin = cluster::Origin::measured});
  if (hosts > 1)
    cluster.levels.push_back({.name = "network",
                              .arity = hosts,
                              .bandwidth = 0.05_GBps,
                              .latency = 500.0_us,
                              .per = cluster::Level::Per::domain,
                              .origin = cluster::Origin::measured,
                              .latency_origin = cluster::Origin::measured});
  return cluster;
}

constexpr plan::Op kOps[] = {plan::Op::all_reduce, plan::Op::all_gather, plan::Op::reduce_scatter,
                             plan::Op::send_recv};

/// Returns what a probe of that cluster would measure if the model were exact, with every time
/// multiplied by noise().
template <class Noise>
ProbeFigures measured(const cluster::Cluster& cluster, Noise noise) {
  ProbeFigures probe;
  const i64 hosts = cluster.devices() / cluster.host_devices;
  for (i64 i = 0; i < hosts; ++i) probe.hosts.push_back("node" + std::to_string(i));
  probe.host_ranks.assign(std::size_t(hosts), cluster.host_devices);
  probe.memory = cluster.host_devices * cluster.device.memory;
  probe.matmuls.push_back(
      {"fp32", 256, 256, 256, Flops{2.0 * 256 * 256 * 256} / cluster.device.best_matmul});
  probe.streams.push_back({"copy", 1.0_GB, 1.0_GB / cluster.device.memory_bandwidth});
  probe.launch = cluster.device.launch;
  std::vector<ProbeGroup> groups;
  if (cluster.host_devices > 1) groups.push_back(ProbeGroup::host);
  if (hosts > 1) groups.insert(groups.end(), {ProbeGroup::world, ProbeGroup::rails});
  for (const ProbeGroup group : groups)
    for (const plan::Op op : kOps) {
      ProbedCalls series{.group = group, .op = op};
      for (double size = 4096; size <= 0x1p24; size *= 4)
        series.calls.push_back({Bytes{size}, noise() * modelled(cluster, series, Bytes{size})});
      probe.calls.push_back(series);
    }
  return probe;
}

bool near(double found, double wanted, double within) {
  return std::abs(std::log(found / wanted)) < within;
}

RC_GTEST_PROP(Probed, SimulatedMeasurements_RecoverTheLinks, ()) {
  const i64 hosts = any_config::one_of({1, 2, 4}), inside = any_config::one_of({2, 3, 4, 8});
  cluster::Cluster real = cpus(hosts, inside);
  for (cluster::Level& level : real.levels) {
    level.bandwidth = any_config::random_share() * level.bandwidth;
    level.latency = any_config::random_share() * level.latency;
  }
  const cluster::Cluster found = make_probed_cluster(measured(real, [] { return 1.0; }));
  RC_ASSERT(found.levels.size() == real.levels.size());
  for (std::size_t k = 0; k < real.levels.size(); ++k) {
    RC_ASSERT(near(found.levels[k].bandwidth.value, real.levels[k].bandwidth.value, 0.02));
    RC_ASSERT(near(found.levels[k].latency.value, real.levels[k].latency.value, 0.02));
    RC_ASSERT(found.levels[k].arity == real.levels[k].arity);
    RC_ASSERT(found.levels[k].per == real.levels[k].per);
    RC_ASSERT(found.levels[k].origin == cluster::Origin::measured);
    RC_ASSERT(found.levels[k].latency_origin == cluster::Origin::measured);
  }
}

RC_GTEST_PROP(Probed, Noise_MovesLinksNoMoreThanItself, ()) {
  const cluster::Cluster real = cpus(2, 4);
  const cluster::Cluster found = make_probed_cluster(
      measured(real, [] { return 0.8 + 0.4 * (any_config::random_share() - 1); }));
  RC_ASSERT(found.levels.size() == 2u);
  for (std::size_t k = 0; k < real.levels.size(); ++k) {
    RC_ASSERT(near(found.levels[k].bandwidth.value, real.levels[k].bandwidth.value, 0.25));
    RC_ASSERT(near(found.levels[k].latency.value, real.levels[k].latency.value, 0.35));
  }
}

TEST(Probed, Device_HasTheMeasuredRates) {
  ProbeFigures probe = measured(cpus(1, 4), [] { return 1.0; });
  // 2 * 512^3 FLOPs in 10 ms: 26.84 GFLOP/s, between the 20 and the 268.4 of the other shapes.
  probe.matmuls.push_back({"fp32", 512, 512, 512, 10.0_ms});
  probe.matmuls.push_back({"fp32", 512, 512, 512, 1.0_ms});
  probe.matmuls.push_back({"fp64", 512, 512, 512, 1.0_ms});  // ignored: not fp32
  probe.memory = 8.0_GB;
  probe.processor = "Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz";
  probe.vendor = "GenuineIntel";
  const cluster::Device device = make_probed_cluster(probe).device;
  EXPECT_DOUBLE_EQ(device.best_matmul.value, 26.84e9);
  EXPECT_EQ(device.bf16, device.best_matmul);  // no bf16 was measured
  EXPECT_DOUBLE_EQ(device.memory.value, 2e9);
  EXPECT_EQ(device.name, "cpu-xeon-platinum-8259cl");
  EXPECT_EQ(device.vendor, "Intel");
  EXPECT_TRUE(device.cpu());
}

TEST(Probed, UnnamedProcessor_IsCpu) { EXPECT_EQ(make_cpu_name(""), "cpu"); }

TEST(Probed, OneRank_HasOneLevelWithoutAFit) {
  const cluster::Cluster cluster = make_probed_cluster(measured(cpus(1, 1), [] { return 1.0; }));
  ASSERT_EQ(cluster.levels.size(), 1u);
  EXPECT_EQ(cluster.levels[0].arity, 1);
}

TEST(Probed, OneRankPerHost_IsOneLevelWithLinksPerDevice) {
  cluster::Cluster real = cpus(1, 4);  // calls on one level are equal, whatever its name
  ProbeFigures probe = measured(real, [] { return 1.0; });
  probe.hosts = {"a", "b", "c", "d"};
  probe.host_ranks = {1, 1, 1, 1};
  for (ProbedCalls& series : probe.calls) series.group = ProbeGroup::world;
  const cluster::Cluster found = make_probed_cluster(probe);
  ASSERT_EQ(found.levels.size(), 1u);
  EXPECT_EQ(found.levels[0].name, "network");
  EXPECT_EQ(found.levels[0].per, cluster::Level::Per::device);
  EXPECT_TRUE(near(found.levels[0].bandwidth.value, 0.4e9, 0.02));
}

TEST(Probed, UnequalHosts_AreRejectedWithTheirRanks) {
  const ProbeFigures probe{.hosts = {"a", "b", "c"}, .host_ranks = {4, 2, 3}};
  const std::optional<Diagnostic> refused = check_equal_hosts(probe);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, "RW0705");
  EXPECT_EQ(refused->hint, "mpirun -n 6 --map-by ppr:2:node");
  golden::expect("fit/unequal-hosts.txt", refused->detail + "\n");
}

TEST(Probed, ClusterFile_RoundTrips) {
  const cluster::Cluster cluster = make_probed_cluster(measured(cpus(2, 4), [] { return 1.0; }));
  const std::string text = exporter::write_cluster_yaml(cluster);
  EXPECT_THAT(text, HasSubstr("origin: measured"));
  Diagnostics findings;
  EXPECT_EQ(importer::read_cluster_file(text, "c.yaml", findings), cluster);
  EXPECT_TRUE(findings.empty());
}

}  // namespace probed_test
}  // namespace rankwright::fit
