#include "rankwright/import/cluster/cluster_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "tests/support/any_config.h"
#include "tests/support/cluster_parts.h"
#include "tests/support/finding_lines.h"
#include "tests/support/golden.h"
#include "tests/support/input_lines.h"

namespace rankwright::importer {
namespace cluster_parts_test {

using testing::HasSubstr;

template <class T>
ClusterPart<T> stated(T value) {
  return {std::move(value), "test"};
}

std::string resolved(const ClusterParts& parts) {
  clusters::Reading reading{.parts = parts};
  const std::string cluster = clusters::resolved(reading);
  return cluster == "nothing" ? format_findings(reading.findings) : cluster;
}

TEST(ClusterParts, DeviceOnly_AssumesItsCatalogSystem) {
  EXPECT_EQ(resolved({.device = stated<std::string>("mi300x")}),
            "mi300x: xgmi 8 x 448 GB/s (assumed), infiniband 1 x 50 GB/s (assumed)");
}

// Two NICs of 50 GB/s for eight GPUs are shared; sixteen give each GPU two.
TEST(ClusterParts, NicsAreSharedOrPerGpu) {
  ClusterParts parts{.device = stated<std::string>("h100-sxm"), .host_devices = stated<i64>(8)};
  parts.nics = stated<i64>(2);
  parts.nic_rate = stated(50.0_GBps);
  EXPECT_THAT(resolved(parts), HasSubstr("infiniband 1 x 100 GB/s a domain"));
  parts.nics = stated<i64>(16);
  EXPECT_THAT(resolved(parts), HasSubstr("infiniband 1 x 100 GB/s"));
  EXPECT_THAT(resolved(parts), testing::Not(HasSubstr("a domain")));
}

// 100 GB/s for eight GPUs below a switch are 12.5 GB/s for each GPU above it.
TEST(ClusterParts, LevelAboveSharedNics_HasTheirShare) {
  ClusterParts parts{.device = stated<std::string>("h100-sxm"), .host_devices = stated<i64>(8)};
  parts.nics = stated<i64>(2);
  parts.nic_rate = stated(50.0_GBps);
  parts.tree = stated(std::vector<i64>{4, 2});
  EXPECT_THAT(resolved(parts),
              HasSubstr("infiniband 4 x 100 GB/s a domain, spine 2 x 12.5 GB/s (assumed)"));
}

TEST(ClusterParts, RackIsOneNvlinkDomain) {
  ClusterParts parts{.device = stated<std::string>("gb200"), .host_devices = stated<i64>(4)};
  parts.hosts = stated<i64>(36);
  EXPECT_EQ(resolved(parts),
            "gb200: nvlink 72 x 900 GB/s (assumed), infiniband 2 x 50 GB/s (assumed)");
  parts.hosts = stated<i64>(9);  // half a rack
  EXPECT_THAT(resolved(parts), HasSubstr("nvlink 36 x 900 GB/s (assumed), infiniband 1 x"));
}

TEST(ClusterParts, MissingDeviceAndTooManyDevices_AreRejected) {
  ClusterParts hosts{.device = stated<std::string>("h100-sxm"), .host_devices = stated<i64>(8)};
  ClusterParts tree = hosts;
  hosts.hosts = stated<i64>(cluster::kMaxDevices);
  tree.tree = stated(std::vector<i64>{2, 2, 2, 2, 2, 2, 2, 2});
  golden::expect("import/cluster-parts-faults.txt",
                 format_case("no device", resolved({})) +
                     format_case("a device that the catalog does not have",
                                 resolved({.device = stated<std::string>("h101")})) +
                     format_case("2^22 hosts of 8 devices", resolved(hosts)) +
                     format_case("8 levels above a host", resolved(tree)));
}

RC_GTEST_PROP(ClusterParts, StatedCountsAreKept, ()) {
  ClusterParts parts;
  parts.device = stated(std::string(
      catalog::devices()[*rc::gen::inRange<std::size_t>(0, catalog::devices().size())].name));
  parts.host_devices = stated(any_config::one_of({1, 2, 4, 8, 16}));
  parts.hosts = stated(any_config::one_of({1, 2, 3, 8, 18, 36, 100}));
  if (any_config::coin()) parts.nics = stated(any_config::one_of({1, 2, 4, 8, 10, 16}));
  if (any_config::coin()) parts.nvlinks = stated(NvLinks{6, 12});
  Diagnostics findings;
  const std::optional<cluster::Cluster> cluster = resolve_cluster(parts, findings);
  RC_ASSERT(cluster.has_value());
  RC_ASSERT(cluster->host_devices == parts.host_devices->value);
  RC_ASSERT(cluster->devices() == parts.hosts->value * parts.host_devices->value);
  for (const Diagnostic& finding : findings) RC_ASSERT(finding.severity == Severity::note);
}

}  // namespace cluster_parts_test
}  // namespace rankwright::importer
