#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankwright/import/cluster/cluster_format.h"
#include "tests/support/cluster_parts.h"
#include "tests/support/finding_lines.h"

namespace rankwright::importer {
namespace nccl_topo_test {

using clusters::Reading;
using testing::HasSubstr;

Reading read(std::string_view text) { return clusters::read("nccl-topo", text); }

// 4 + 5 + 5 + 4 links of 25 GB/s, eight NICs of 400,000 Mb/s, and one of 100,000 Mb/s for logins.
TEST(NcclTopo, H100WithItsNics) {
  Reading reading = read(clusters::sample("nccl-topo-h100.xml"));
  ASSERT_EQ(format_findings(reading.findings), "");
  EXPECT_EQ(reading.parts.nics->value, 8);
  EXPECT_EQ(clusters::resolved(reading), "h100-sxm: nvlink 8 x 450 GB/s, infiniband 1 x 50 GB/s");
}

// Two GPUs per NUMA node; one NIC of 25 Gb/s per host.
TEST(NcclTopo, PcieOnly) {
  Reading reading = read(clusters::sample("nccl-topo-4090.xml"));
  ASSERT_EQ(format_findings(reading.findings), "");
  EXPECT_EQ(clusters::resolved(reading),
            "rtx-4090: pcie 2 x 31.5 GB/s, socket 2 x 22 GB/s a domain (assumed), "
            "ethernet 1 x 3.12 GB/s a domain");
}

TEST(NcclTopo, UnknownPciId_NeedsTheDevice) {
  Reading reading = read(
      "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"1\" vendor=\"0x10de\" "
      "device=\"0xffff\">"
      "<gpu dev=\"0\" sm=\"90\"/></pci></cpu></system>");
  EXPECT_EQ(clusters::resolved(reading), "nothing");
  EXPECT_THAT(format_findings(reading.findings), HasSubstr("no file says which GPU"));
}

TEST(NcclTopo, SeveralHostsInOneFile) {
  Reading reading = read(
      "<system version=\"2\">"
      "<cpu host_hash=\"0x1\" numaid=\"0\"><pci vendor=\"0x10de\" device=\"0x2330\"><gpu><nvlink "
      "count=\"18\"/></gpu></pci></cpu>"
      "<cpu host_hash=\"0x2\" numaid=\"0\"><pci vendor=\"0x10de\" device=\"0x2330\"><gpu><nvlink "
      "count=\"18\"/></gpu></pci></cpu></system>");
  ASSERT_EQ(format_findings(reading.findings), "");
  EXPECT_EQ(reading.parts.hosts->value, 2);
  EXPECT_EQ(reading.parts.host_devices->value, 1);
}

TEST(NcclTopo, Faults_HaveTheirLines) {
  EXPECT_EQ(format_findings(read("<system version=\"1\">\n<cpu/></system>").findings),
            "RW0621 1:1 there is no <gpu> in it\n");
  EXPECT_EQ(format_findings(read("<graphs/>").findings),
            "RW0621 1:1 <system> is expected, not <graphs>\n");
  EXPECT_EQ(
      format_findings(
          read("<system><cpu>\n<gpu>\n<nvlink count=\"many\"/></gpu></cpu></system>").findings),
      "RW0621 3:1 count=\"many\" is no number of links\n");
  EXPECT_EQ(
      format_findings(
          read("<system><cpu>\n<nic><net name=\"a\" speed=\"-4\"/></nic></cpu></system>").findings),
      "RW0621 2:1 speed=\"-4\" is no rate in Mb/s\n");
  EXPECT_EQ(read("<system><cpu>").findings.at(0).code, "RW0901");
}

}  // namespace nccl_topo_test
}  // namespace rankwright::importer
