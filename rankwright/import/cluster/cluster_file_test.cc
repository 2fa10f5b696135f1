#include "rankwright/import/cluster/cluster_file.h"

#include <gtest/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "tests/support/finding_lines.h"

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

/// Returns the faults of a cluster whose level has `key: value` on line 3.
std::string level_faults(std::string_view key, std::string_view value) {
  std::string text = fmt::format("device: h100-sxm\nlevels:\n  - {}: {}\n", key, value);
  if (key != "arity") text += "    arity: 8\n";
  if (key != "bandwidth") text += "    bandwidth: 1 GB/s\n";
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

TEST(ClusterFile, MissingUnit_IsRejected) {
  EXPECT_EQ(level_faults("bandwidth", "450"), "RW0909 3:16 '450' has no unit; such as 450 GB/s\n");
  EXPECT_EQ(level_faults("bandwidth", "450 GB"),
            "RW0909 3:16 '450 GB' has the unit 'GB'; known units: B/s, kB/s, MB/s, GB/s, TB/s, "
            "PB/s, EB/s, MiB/s, GiB/s, b/s, Mb/s, Gb/s, Tb/s, Mbit/s, Gbit/s, Tbit/s, Mbps, Gbps, "
            "Tbps, GBps\n");
  EXPECT_EQ(level_faults("latency", "2"), "RW0909 3:14 '2' has no unit; such as 2 us\n");
  EXPECT_EQ(level_faults("bandwidth", "[450 GB/s]"),
            "RW0903 3:16 a number with its unit is expected here, not a list\n");
}

TEST(ClusterFile, BoundsEveryNumber) {
  EXPECT_EQ(level_faults("arity", "0"), "RW0904 3:12 0 is less than 1\n");
  EXPECT_EQ(level_faults("arity", "-8"), "RW0904 3:12 -8 is less than 1\n");
  EXPECT_EQ(level_faults("arity", "18446744073709551616"),
            "RW0904 3:12 18446744073709551616 is more than 1,125,899,906,842,624 (2^50)\n");
  EXPECT_EQ(level_faults("arity", "4194305"), "RW0904 3:12 4194305 is more than 4,194,304\n");
  EXPECT_EQ(level_faults("bandwidth", "0 GB/s"),
            "RW0904 3:16 '0 GB/s' is not from 1 B/s to 1 EB/s\n");
  EXPECT_EQ(level_faults("bandwidth", "nan GB/s"),
            "RW0909 3:16 'nan GB/s' does not begin with a number; such as 450 GB/s\n");
  EXPECT_EQ(level_faults("bandwidth", "1e-300 B/s"),
            "RW0904 3:16 '1e-300 B/s' is not from 1 B/s to 1 EB/s\n");
  EXPECT_EQ(level_faults("bandwidth", "1e300 B/s"),
            "RW0904 3:16 '1e300 B/s' is not from 1 B/s to 1 EB/s\n");
  EXPECT_EQ(level_faults("latency", "-1 us"), "RW0909 3:14 '-1 us' is negative; such as 2 us\n");
  EXPECT_EQ(level_faults("latency", "1e9 s"), "RW0904 3:14 '1e9 s' is not from 0 s to 1,000 s\n");
  EXPECT_EQ(level_faults("oversubscription", "0.5"),
            "RW0904 3:23 '0.5' is not a number from 1 to 1000\n");
  EXPECT_EQ(level_faults("oversubscription", "1e300"),
            "RW0904 3:23 '1e300' is not a number from 1 to 1000\n");
  EXPECT_EQ(level_faults("oversubscription", ".nan"),
            "RW0904 3:23 '.nan' is not a number from 1 to 1000\n");
}

TEST(ClusterFile, BoundsTheDevicesOfAllLevelsTogether) {
  // 2048 x 2048 is 2^22, the maximum.
  const std::string two =
      "device: h100-sxm\n"
      "levels: [{arity: 2048, bandwidth: 1 GB/s}, {arity: 2048, bandwidth: 1 GB/s}";
  EXPECT_EQ(read(two + "]")->devices(), cluster::kMaxDevices);
  EXPECT_EQ(faults(two + ", {arity: 2, bandwidth: 1 GB/s}]"),
            "RW0904 1:1 the arities multiply to more than 4,194,304 devices\n");
  std::string nine = "device: h100-sxm\nlevels:\n";
  for (int i = 0; i < 9; ++i) nine += "  - {arity: 1, bandwidth: 1 GB/s}\n";
  EXPECT_EQ(faults(nine), "RW0904 11:5 at most 8 levels are read\n");
}

TEST(ClusterFile, HostDevicesMustDivideTheCluster) {
  EXPECT_EQ(faults("device: h100-sxm\nhost_devices: 5\nlevels: [{arity: 8, bandwidth: 1 GB/s}]\n"),
            "RW0904 2:15 hosts of 5 devices do not make up 8\n");
}

TEST(ClusterFile, MissingKeys_AreReported) {
  EXPECT_EQ(faults("name: a\n"),
            "RW0912 1:1 the device is not given; device: h100-sxm\n"
            "RW0912 1:1 the list of levels is not given; levels: [{name: nvlink, arity: 8, "
            "bandwidth: 450 GB/s, latency: 2 us}]\n");
  EXPECT_EQ(faults("device: {name: d}\nlevels: [{name: a}]\n"),
            "RW0912 1:9 the device's memory is not given; memory: 80 GB\n"
            "RW0912 1:9 the bandwidth of the device's memory is not given; memory_bandwidth: 3350 "
            "GB/s\n"
            "RW0912 1:9 the device's bf16 rate is not given; bf16: 989 TFLOP/s\n"
            "RW0912 2:10 the level's arity is not given; arity: 8\n"
            "RW0912 2:10 the level's bandwidth is not given; bandwidth: 450 GB/s\n");
  EXPECT_EQ(faults(""), "RW0903 0:0 a device and its levels is expected here, not nothing\n");
}

TEST(ClusterFile, WrongKindOrUnknownValue_IsReported) {
  EXPECT_EQ(faults("device: [h100-sxm]\nlevels: {a: b}\n"),
            "RW0903 1:9 a device's name or a map of its figures is expected here, not a list\n"
            "RW0903 2:9 a list of levels, innermost first is expected here, not a map\n");
  EXPECT_EQ(faults("device: h100-sxn\nlevels: [nvlink]\n"),
            "RW0908 1:9 no device is called 'h100-sxn'; did you mean h100-sxm? (rankwright catalog "
            "devices)\n"
            "RW0903 2:10 a level such as {arity: 8, bandwidth: 450 GB/s} is expected here, not a "
            "single value\n");
  EXPECT_EQ(level_faults("per", "devise"),
            "RW0907 3:10 'devise' is none of device, domain; did you mean device?\n");
}

TEST(ClusterFile, UnknownKey_IsAWarning) {
  Diagnostics findings;
  EXPECT_TRUE(read_cluster_file(
      "device: h100-sxm\nlevels: [{arity: 8, bandwith: 1 GB/s, bandwidth: 1 GB/s}]\n", "c.yaml",
      findings));
  EXPECT_EQ(format_findings(findings),
            "RW0902 2:21 'bandwith' means nothing here; did you mean bandwidth?\n");
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
  EXPECT_EQ(format_findings(findings),
            "RW0910 0:0 this input may not name files\n"
            "RW0908 0:0 no system is called 'dgx-h10'; did you mean dgx-h100? (rankwright catalog "
            "systems)\n");
  EXPECT_EQ(findings.back().where.file, "--cluster");
}

}  // namespace cluster_file_test
}  // namespace rankwright::importer
