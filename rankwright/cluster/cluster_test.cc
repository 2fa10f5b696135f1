#include "rankwright/cluster/cluster.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rankwright::cluster {
namespace cluster_test {

/// Eight DGX H100: NVLink inside a node, one 400 Gb/s NIC per GPU between nodes.
Cluster eight_dgx() {
  return {.name = "dgx-h100 x 8",
          .device = {},
          .levels = {{.name = "nvlink", .arity = 8, .bandwidth = 450.0_GBps, .latency = 2.0_us},
                     {.name = "infiniband", .arity = 8, .bandwidth = 50.0_GBps, .latency = 5.0_us}},
          .host_devices = 8};
}

TEST(Cluster, DomainSize_IsTheProductOfArities) {
  const Cluster cluster = eight_dgx();
  EXPECT_EQ(cluster.domain(-1), 1);
  EXPECT_EQ(cluster.domain(0), 8);
  EXPECT_EQ(cluster.domain(1), 8 * 8);
  EXPECT_EQ(cluster.devices(), 64);
}

TEST(Cluster, DomainSize_NeedNotBeAPowerOfTwo) {
  // Four racks of 72 devices.
  const Cluster cluster{.name = "gb200-nvl72 x 4",
                        .device = {},
                        .levels = {{.name = "nvlink", .arity = 72, .bandwidth = 900.0_GBps},
                                   {.name = "infiniband", .arity = 4, .bandwidth = 50.0_GBps}},
                        .host_devices = 4};
  EXPECT_EQ(cluster.domain(0), 72);
  EXPECT_EQ(cluster.devices(), 288);
  EXPECT_EQ(cluster.uplink(1), 3600.0_GBps);  // 72 x 50 GB/s
}

TEST(Uplink, LevelZero_IsTheDevicesOwnLink) {
  Cluster cluster = eight_dgx();
  EXPECT_EQ(cluster.uplink(0), 450.0_GBps);
  cluster.levels[0].per = Level::Per::domain;  // a domain of one device: no difference
  EXPECT_EQ(cluster.uplink(0), 450.0_GBps);
}

TEST(Uplink, PerDevice_SumsTheLinksOfTheDevices) {
  EXPECT_EQ(eight_dgx().uplink(1), 400.0_GBps);  // 8 NICs x 50 GB/s
}

TEST(Uplink, PerDomain_IsOneSharedLink) {
  Cluster cluster = eight_dgx();
  cluster.levels[1].per = Level::Per::domain;
  EXPECT_EQ(cluster.uplink(1), 50.0_GBps);
}

TEST(Uplink, IsDividedByTheOversubscription) {
  Cluster cluster = eight_dgx();
  cluster.levels[1].oversubscription = 2;
  EXPECT_EQ(cluster.uplink(1), 200.0_GBps);  // 400 / 2
  cluster.levels[1].per = Level::Per::domain;
  EXPECT_EQ(cluster.uplink(1), 25.0_GBps);  // 50 / 2
}

RC_GTEST_PROP(Cluster, EveryDomain_HoldsArityDomainsOfTheLevelBelow, ()) {
  Cluster cluster;
  const auto arities = *rc::gen::resize(
      int(kMaxLevels),
      rc::gen::nonEmpty(rc::gen::container<std::vector<i64>>(rc::gen::inRange<i64>(1, 73))));
  for (const i64 arity : arities) cluster.levels.push_back({.name = "", .arity = arity});
  for (int k = 0; k < int(arities.size()); ++k)
    RC_ASSERT(cluster.domain(k) == cluster.domain(k - 1) * arities[std::size_t(k)]);
  RC_ASSERT(cluster.devices() == cluster.domain(int(arities.size()) - 1));
}

TEST(Origin, EveryOrigin_HasAUniqueName) {
  EXPECT_EQ(name(Origin::data_sheet), "data sheet");
  EXPECT_EQ(name(Origin::calibrated), "calibrated");
  EXPECT_EQ(name(Origin::measured), "measured");
  EXPECT_EQ(name(Origin::assumed), "assumed");
}

}  // namespace cluster_test
}  // namespace rankwright::cluster
