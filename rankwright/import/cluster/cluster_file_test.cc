#include "rankwright/import/cluster/cluster_file.h"

#include <gtest/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "tests/support/finding_lines.h"
#include "tests/support/golden.h"
#include "tests/support/input_lines.h"

namespace rankwright::importer {
namespace cluster_file_test {

std::optional<cluster::Cluster> read(std::string_view text) {
  Diagnostics findings;
  std::optional<cluster::Cluster> cluster = read_cluster_file(text, "c.yaml", findings);
  EXPECT_EQ(format_findings(findings), "") << text;
  return cluster;
}

std::string faults(std::string_view text) {
  Diagnostics findings;
  EXPECT_FALSE(read_cluster_file(text, "c.yaml", findings)) << text;
  return format_findings(findings);
}

/// Returns the faults of a cluster whose level has `entry`, such as "arity: 0", on line 3.
std::string level_faults(const std::string& entry) {
  std::string text = "device: h100-sxm\nlevels:\n  - " + entry + "\n";
  if (!entry.starts_with("arity:")) text += "    arity: 8\n";
  if (!entry.starts_with("bandwidth:")) text += "    bandwidth: 1 GB/s\n";
  return faults(text);
}

TEST(ClusterFile, ReadsTheExampleOfTheManual) {
  const std::optional<cluster::Cluster> cluster = read(
      "device: h100-sxm\n"
      "levels:\n"
      "  - {name: nvlink, arity: 8, bandwidth: 450 GB/s, latency: 2 us}\n"
      "  - {name: infiniband, arity: 8, bandwidth: 50 GB/s, latency: 5 us, oversubscription: 1}\n");
  ASSERT_TRUE(cluster);
  EXPECT_EQ(
      *cluster,
      (cluster::Cluster{
          .name = "cluster",
          .device = catalog::find_device("h100-sxm").value(),
          .levels = {{.name = "nvlink", .arity = 8, .bandwidth = 450.0_GBps, .latency = 2.0_us},
                     {.name = "infiniband", .arity = 8, .bandwidth = 50.0_GBps, .latency = 5.0_us}},
          .host_devices = 8}));
}

TEST(ClusterFile, ReadsEveryKey) {
  const std::optional<cluster::Cluster> cluster = read(
      "name: mine\n"
      "host_devices: 4\n"
      "device:\n"
      "  {name: d, memory: 80 GB, memory_bandwidth: 2 TB/s, fp16: 1 TFLOP/s, bf16: 2 TFLOP/s,\n"
      "   fp8: 3 TFLOP/s, fp4: 4 TFLOP/s, vendor: us, generation: new, multiprocessors: 7,\n"
      "   watts: 350.5, best_matmul: 1.5 TFLOP/s,\n"
      "   launch: 5 us, source: measured here, verified: partly}\n"
      "levels:\n"
      "  - {name: a, arity: 72, bandwidth: 400 Gb/s, latency: 1.5 ms, oversubscription: 2.5,\n"
      "     per: domain, origin: measured, latency_origin: calibrated}\n");
  ASSERT_TRUE(cluster);
  const cluster::Device device{.name = "d",
                               .vendor = "us",
                               .memory = 80.0_GB,
                               .memory_bandwidth = 2000.0_GBps,
                               .fp16 = 1.0_TFLOPS,
                               .bf16 = 2.0_TFLOPS,
                               .fp8 = 3.0_TFLOPS,
                               .fp4 = 4.0_TFLOPS,
                               .generation = "new",
                               .multiprocessors = 7,
                               .watts = 350.5,
                               .best_matmul = 1.5_TFLOPS,
                               .launch = 5.0_us,
                               .source = "measured here",
                               .verified = "partly"};
  const cluster::Level level{.name = "a",
                             .arity = 72,
                             .bandwidth = 50.0_GBps,
                             .latency = 1.5_ms,
                             .oversubscription = 2.5,
                             .per = cluster::Level::Per::domain,
                             .origin = cluster::Origin::measured,
                             .latency_origin = cluster::Origin::calibrated};
  EXPECT_EQ(*cluster, (cluster::Cluster{
                          .name = "mine", .device = device, .levels = {level}, .host_devices = 4}));
}

TEST(ClusterFile, MemoryAndLinkOfAHost) {
  Diagnostics findings;
  const std::optional<cluster::Cluster> cluster = read_cluster_file(
      "device: h100-sxm\nhost_memory: 2 TB\nhost_link: 55 GB/s\n"
      "nvme_capacity: 30 TB\nnvme_read: 25 GB/s\nnvme_write: 12 GB/s\n"
      "levels: [{arity: 8, bandwidth: 450 GB/s}]\n",
      "c.yaml", findings);
  ASSERT_TRUE(cluster.has_value());
  EXPECT_EQ(cluster->host,
            (cluster::Host{.memory = {2e12},
                           .link = 55.0_GBps,
                           .nvme = {.capacity = {30e12}, .read = 25.0_GBps, .write = 12.0_GBps}}));
  EXPECT_FALSE(read_cluster_file("device: h100-sxm\nhost_memory: 2\n"
                                 "levels: [{arity: 8, bandwidth: 450 GB/s}]\n",
                                 "c.yaml", findings)
                   .has_value());
}

TEST(ClusterFile, MissingUnit_IsRejected) {
  golden::expect(
      "import/cluster-file-units.txt",
      transcribe({"bandwidth: 450", "bandwidth: 450 GB", "latency: 2", "bandwidth: [450 GB/s]"},
                 level_faults));
}

TEST(ClusterFile, BoundsEveryNumber) {
  golden::expect(
      "import/cluster-file-bounds.txt",
      transcribe({"arity: 0", "arity: -8", "arity: 18446744073709551616", "arity: 4194305",
                  "bandwidth: 0 GB/s", "bandwidth: nan GB/s", "bandwidth: 1e-300 B/s",
                  "bandwidth: 1e300 B/s", "latency: -1 us", "latency: 1e9 s",
                  "oversubscription: 0.5", "oversubscription: 1e300", "oversubscription: .nan"},
                 level_faults));
}

TEST(ClusterFile, BoundsTheDevicesOfAllLevelsTogether) {
  // 2048 x 2048 is 2^22, the maximum. Nine levels are one too many. Hosts of 5 do not divide 8.
  const std::string two =
      "device: h100-sxm\n"
      "levels: [{arity: 2048, bandwidth: 1 GB/s}, {arity: 2048, bandwidth: 1 GB/s}";
  EXPECT_EQ(read(two + "]")->devices(), cluster::kMaxDevices);
  std::string nine = "device: h100-sxm\nlevels:\n";
  for (int i = 0; i < 9; ++i) nine += "  - {arity: 1, bandwidth: 1 GB/s}\n";
  golden::expect("import/cluster-file-levels.txt",
                 transcribe({two + ", {arity: 2, bandwidth: 1 GB/s}]", nine,
                             "device: h100-sxm\nhost_devices: 5\n"
                             "levels: [{arity: 8, bandwidth: 1 GB/s}]\n"},
                            faults));
}

TEST(ClusterFile, MissingKeys_AreReported) {
  golden::expect("import/cluster-file-missing-keys.txt",
                 transcribe({"name: a\n", "device: {name: d}\nlevels: [{name: a}]\n", ""}, faults));
}

TEST(ClusterFile, WrongKindOrUnknownValue_IsReported) {
  golden::expect(
      "import/cluster-file-wrong-values.txt",
      transcribe({"device: [h100-sxm]\nlevels: {a: b}\n", "device: h100-sxn\nlevels: [nvlink]\n"},
                 faults) +
          transcribe({"per: devise"}, level_faults));
}

TEST(ClusterFile, UnknownKey_IsAWarning) {
  Diagnostics findings;
  EXPECT_TRUE(read_cluster_file(
      "device: h100-sxm\nlevels: [{arity: 8, bandwith: 1 GB/s, bandwidth: 1 GB/s}]\n", "c.yaml",
      findings));
  golden::expect("import/cluster-file-unknown-key.txt", format_findings(findings));
  EXPECT_FALSE(has_errors(findings));
}

TEST(ClusterArgument, IsANameOrAFile) {
  Diagnostics findings;
  EXPECT_EQ(read_cluster_argument("dgx-h100 x 8", refuse_file, findings)->devices(), 64);
  EXPECT_EQ(format_findings(findings), "");
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    return path == "a/c.yaml" ? "device: h100-sxm\nlevels: [{arity: 3, bandwidth: 1 GB/s}]" : path;
  };
  EXPECT_EQ(read_cluster_argument("a/c.yaml", files, findings)->devices(), 3);
  EXPECT_EQ(format_findings(findings), "");
  EXPECT_FALSE(read_cluster_argument("c.yml", refuse_file, findings));
  EXPECT_FALSE(read_cluster_argument("dgx-h10", refuse_file, findings));
  golden::expect("import/cluster-argument.txt", format_findings(findings));
  EXPECT_EQ(findings.back().where.file, "--cluster");
}

}  // namespace cluster_file_test
}  // namespace rankwright::importer
