// Any text is read as a cluster file, or refused with findings; what is read has devices that can
// be counted and links that carry something.
#include "rankwright/import/cluster/cluster_file.h"
#include "tests/fuzz/fuzz.h"

int fuzz_cluster(const std::uint8_t* data, std::size_t size) {
  using namespace rankwright;
  Diagnostics findings;
  const std::optional<cluster::Cluster> cluster =
      importer::read_cluster_file(as_text(data, size), "fuzz.yaml", findings);
  for (const Diagnostic& finding : findings) check_finding(finding);
  RW_CHECK(cluster.has_value() == !has_errors(findings));
  if (!cluster) return 0;
  RW_CHECK(cluster->devices() >= 1 && cluster->devices() <= cluster::kMaxDevices);
  for (int level = 0; level < int(cluster->levels.size()); ++level)
    RW_CHECK(cluster->uplink(level) > BytesPerSecond{});
  return 0;
}
