#include "rankwright/export/cluster_file.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/import/cluster/cluster_file.h"
#include "tests/support/any_config.h"
#include "tests/support/finding_lines.h"

namespace rankwright::exporter {
namespace cluster_file_test {

TEST(ClusterYaml, CatalogDevice_IsWrittenByName) {
  EXPECT_EQ(write_cluster_yaml(*catalog::find_cluster("gb200-nvl72 x 2"), {"two racks", "of 72"}),
            "# two racks\n# of 72\n"
            "name: gb200-nvl72 x 2\n"
            "device: gb200\n"
            "levels:\n"
            "  - {name: nvlink, arity: 72, bandwidth: 900 GB/s, latency: 1.2 us}\n"
            "  - {name: infiniband, arity: 2, bandwidth: 50 GB/s, latency: 5 us}\n"
            "host_devices: 4\n");
}

TEST(ClusterYaml, LineBreakInComment_DoesNotAddKeys) {
  const std::string text =
      write_cluster_yaml(*catalog::find_cluster("dgx-h100"), {"a\ndevice: other"});
  Diagnostics findings;
  EXPECT_EQ(importer::read_cluster_file(text, "c.yaml", findings),
            *catalog::find_cluster("dgx-h100"));
}

RC_GTEST_PROP(ClusterYaml, RandomCluster_ReadsBackEqual, ()) {
  const cluster::Cluster cluster = any_config::random_cluster(any_config::one_of({1, 8, 24, 64}));
  Diagnostics findings;
  const std::optional<cluster::Cluster> back =
      importer::read_cluster_file(write_cluster_yaml(cluster), "c.yaml", findings);
  RC_ASSERT(format_findings(findings) == "");
  RC_ASSERT(back == cluster);
}

}  // namespace cluster_file_test
}  // namespace rankwright::exporter
