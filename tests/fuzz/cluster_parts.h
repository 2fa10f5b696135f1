// Checks that hold for every cluster file of any format: it is read or refused with findings, and a
// file that is read resolves to a cluster with a countable number of devices and positive
// bandwidths.
#pragma once

#include "rankwright/import/cluster/cluster_format.h"
#include "tests/fuzz/fuzz.h"

namespace rankwright {

inline void check_cluster_format(std::string_view format, std::string_view text) {
  const importer::ClusterFormat* const row = importer::find_cluster_format(format);
  RW_CHECK(row != nullptr);
  row->claims("fuzz", text);
  for (const std::string_view device : {"", "h100-sxm", "gb200", "l40s"}) {
    importer::ClusterParts parts;
    Diagnostics findings;
    if (!device.empty())
      parts.device = importer::ClusterPart<std::string>{std::string(device), "--device"};
    row->read(text, "fuzz", parts, findings);
    std::optional<cluster::Cluster> cluster;
    if (!has_errors(findings)) cluster = resolve_cluster(parts, findings);
    for (const Diagnostic& finding : findings) check_finding(finding);
    RW_CHECK(cluster.has_value() == !has_errors(findings));
    if (!cluster) continue;
    RW_CHECK(cluster->devices() >= 1 && cluster->devices() <= cluster::kMaxDevices);
    RW_CHECK(cluster->levels.size() <= cluster::kMaxLevels);
    RW_CHECK(cluster->devices() % cluster->host_devices == 0);
    for (int level = 0; level < int(cluster->levels.size()); ++level)
      RW_CHECK(cluster->uplink(level) > BytesPerSecond{});
  }
}

}  // namespace rankwright
