#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "rankwright/catalog/catalog.h"
#include "rankwright/catalog/table.h"

namespace rankwright::catalog {
namespace systems_test {

TEST(Systems, HaveUniqueNamesPositiveNumbersAndASource) {
  std::set<std::string> names;
  for (const System& s : systems()) {
    EXPECT_TRUE(names.insert(s.name).second) << s.name << " appears twice";
    EXPECT_EQ(s.name, lower(s.name));
    EXPECT_FALSE(s.summary.empty()) << s.name;
    EXPECT_FALSE(s.source.empty()) << s.name << " has no source";
    ASSERT_GE(s.unit.levels.size(), 2u) << s.name;
    ASSERT_LE(s.unit.levels.size(), cluster::kMaxLevels) << s.name;
    EXPECT_EQ(s.unit.levels.back().arity, 1) << s.name << ": the user says how many";
    for (const cluster::Level& level : s.unit.levels) {
      EXPECT_FALSE(level.name.empty()) << s.name;
      EXPECT_GT(level.bandwidth, BytesPerSecond{0}) << s.name;
      EXPECT_GT(level.latency, Seconds{0}) << s.name;
      EXPECT_GE(level.oversubscription, 1) << s.name;
    }
    // A unit divides into whole hosts: 8 of 8 devices, or 4 of an NVL72's 72.
    EXPECT_TRUE(divides(s.unit.host_devices, s.unit.devices())) << s.name;
  }
  EXPECT_FALSE(names.empty());
}

TEST(Systems, RowsOfASystem_AgreeOnItsProperties) {
  const Csv table = parse_shipped_table(kSystemsCsv, "systems.csv");
  ASSERT_FALSE(table.rows.empty());
  for (const Csv::Row& row : table.rows) {
    const Cells cells(table, row);
    const auto system = std::find_if(systems().begin(), systems().end(), [&](const System& s) {
      return s.name == cells.text("system");
    });
    ASSERT_NE(system, systems().end()) << cells.text("system");
    EXPECT_EQ(cells.text("summary"), system->summary);
    EXPECT_EQ(cells.text("source"), system->source);
    EXPECT_EQ(cells.text("device"), system->unit.device.name);
    EXPECT_EQ(cells.count("host_devices"), system->unit.host_devices);
  }
}

TEST(Systems, Verified_DependsOnAssumedBandwidths) {
  System system{.name = "s",
                .summary = "",
                .unit = {.levels = {{.origin = cluster::Origin::data_sheet},
                                    {.origin = cluster::Origin::data_sheet}}},
                .source = ""};
  EXPECT_EQ(system.verified(), "yes");
  system.unit.levels[1].origin = cluster::Origin::assumed;
  EXPECT_EQ(system.verified(), "partly");
  system.unit.levels[0].origin = cluster::Origin::assumed;
  EXPECT_EQ(system.verified(), "no");
}

// Returns the bandwidth per device through a level when all devices use it at once.
double share(const cluster::Cluster& cluster, int level) {
  return cluster.uplink(level).value / double(cluster.domain(level - 1));
}

TEST(Systems, InnerLevels_AreFasterThanOuterOnes) {
  int pairs = 0;
  for (const System& s : systems())
    for (int k = 1; k < int(s.unit.levels.size()); ++k, ++pairs)
      EXPECT_GT(share(s.unit, k - 1), share(s.unit, k)) << s.name;
  EXPECT_GT(pairs, 0);
}

TEST(FindCluster, AcceptsEverySpellingOfACount) {
  for (const std::string_view text :
       {"dgx-h100 x 8", "dgx-h100 x8", "dgx-h100*8", "DGX-H100 X 8", "8 x dgx-h100", "8x dgx-h100",
        "8*dgx-h100", " dgx-h100 * 8 "}) {
    const Result<cluster::Cluster> cluster = find_cluster(text);
    ASSERT_TRUE(cluster) << text << ": " << cluster.error().detail;
    EXPECT_EQ(cluster->name, "dgx-h100 x 8") << text;
    EXPECT_EQ(cluster->devices(), 64) << text;
  }
  EXPECT_EQ(find_cluster("dgx-h100 x 2,048")->devices(), 16384);
  EXPECT_EQ(find_cluster("mi300x-8 x 4")->devices(), 32);
  EXPECT_EQ(find_cluster("4x mi300x-8")->devices(), 32);
}

TEST(FindCluster, NoCount_IsOneUnit) {
  EXPECT_EQ(find_cluster("mi300x-8")->devices(), 8);
  const cluster::Cluster rack = *find_cluster("gb200-nvl72");
  EXPECT_EQ(rack.devices(), 72);
  EXPECT_EQ(rack.host_devices, 4);
  EXPECT_EQ(rack.name, "gb200-nvl72");
}

TEST(FindCluster, ReturnsTheLevelsOfTheSystem) {
  const cluster::Cluster cluster = *find_cluster("dgx-h100 x 4");
  EXPECT_EQ(cluster.device.name, "h100-sxm");
  ASSERT_EQ(cluster.levels.size(), 2u);
  EXPECT_EQ(cluster.levels[0], (cluster::Level{.name = "nvlink",
                                               .arity = 8,
                                               .bandwidth = 450.0_GBps,
                                               .latency = 1.2_us,
                                               .latency_origin = cluster::Origin::assumed}));
  EXPECT_EQ(cluster.levels[1].bandwidth, 50.0_GBps);  // 400 Gb/s
  EXPECT_EQ(cluster.uplink(1), 400.0_GBps);           // per node, eight NICs
  EXPECT_EQ(find_cluster("hgx-h100-1nic x 4")->uplink(1), 50.0_GBps);
  EXPECT_EQ(find_cluster("hgx-a100-100g x 8")->uplink(1), 12.5_GBps);
}

TEST(FindCluster, UnknownName_GetsASuggestion) {
  const Diagnostic error = find_cluster("dgx-h10 x 8").error();
  EXPECT_EQ(error.code, "RW0908");
  EXPECT_EQ(error.detail, "no system is named 'dgx-h10'");
  EXPECT_EQ(error.hint, "did you mean dgx-h100? (rankwright catalog systems)");
  EXPECT_EQ(find_cluster("gb300 x 2").error().hint,
            "gb300 is a device; systems with it: gb300-nvl72");
  EXPECT_EQ(find_cluster("h100 x 2048")
                .error()
                .hint.rfind("h100 is a device; systems with it: dgx-h100", 0),
            0u);
}

TEST(FindCluster, InstanceTypesAndNamesWithoutSpaces_AreFound) {
  EXPECT_EQ(find_cluster("dgx-h100x8")->name, "dgx-h100 x 8");
  EXPECT_EQ(find_cluster("p5.48xlarge x 4")->name, "aws-p5 x 4");
  EXPECT_EQ(find_cluster("Standard_ND96isr_H100_v5")->name, "dgx-h100");
  EXPECT_EQ(find_cluster("a3-highgpu-8g x 2")->devices(), 16);
}

TEST(FindCluster, InvalidCounts_AreRejected) {
  EXPECT_EQ(find_cluster("dgx-h100 x 0").error().code, "RW0904");
  EXPECT_EQ(find_cluster("dgx-h100 x -1").error().code, "RW0904");
  EXPECT_EQ(find_cluster("dgx-h100 x eight").error().code, "RW0903");
  EXPECT_EQ(find_cluster("dgx-h100 x").error().code, "RW0903");
  EXPECT_EQ(find_cluster("dgx-h100 x 99999999999999999999").error().code, "RW0904");
  // 8 x 524,288 devices are 2^22, the maximum.
  EXPECT_EQ(find_cluster("dgx-h100 x 524,289").error().code, "RW0904");
  EXPECT_EQ(find_cluster("dgx-h100 x 524,288")->devices(), cluster::kMaxDevices);
  EXPECT_EQ(find_cluster("").error().code, "RW0908");
}

RC_GTEST_PROP(FindCluster, Devices_AreUnitsTimesDevicesPerUnit, ()) {
  const std::size_t index = *rc::gen::inRange<std::size_t>(0, systems().size());
  const System& system = systems()[index];
  const i64 units = *rc::gen::inRange<i64>(1, cluster::kMaxDevices / system.unit.devices() + 1);
  const Result<cluster::Cluster> cluster =
      find_cluster(system.name + " x " + std::to_string(units));
  RC_ASSERT(cluster.has_value());
  RC_ASSERT(cluster->devices() == units * system.unit.devices());
}

RC_GTEST_PROP(FindCluster, AnyText_GivesAClusterOrAnError, (const std::string& text)) {
  const Result<cluster::Cluster> cluster = find_cluster("dgx-h100 x" + text);
  RC_ASSERT(cluster || !cluster.error().detail.empty());
}

}  // namespace systems_test
}  // namespace rankwright::catalog
