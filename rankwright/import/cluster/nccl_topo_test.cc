#include <gtest/gtest.h>

#include "rankwright/import/cluster/cluster_format.h"
#include "tests/support/cluster_parts.h"
#include "tests/support/finding_lines.h"
#include "tests/support/golden.h"
#include "tests/support/input_lines.h"

namespace rankwright::importer {
namespace nccl_topo_test {

using clusters::Reading;

Reading read(std::string_view text) { return clusters::read("nccl-topo", text); }

/// Returns the finding of a cluster without any file; import/cluster-parts-faults.txt has its text.
std::string resolve_nothing() {
  Reading reading;
  EXPECT_EQ(clusters::resolved(reading), "nothing");
  return format_findings(reading.findings);
}

std::string findings(const std::string& text) { return format_findings(read(text).findings); }

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
  ASSERT_EQ(reading.findings.size(), 1u);
  EXPECT_EQ(format_findings(reading.findings), resolve_nothing());
}

/// Returns a host of eight GPUs with this content, each in a PCI device with these attributes.
std::string eight_gpus(const std::string& attributes, const std::string& gpu) {
  std::string text = "<system version=\"2\">";
  for (int i = 0; i < 8; ++i)
    text += "<cpu numaid=\"" + std::to_string(i / 4) + "\"><pci busid=\"" + std::to_string(i) +
            "\" " + attributes + ">" + gpu + "</pci></cpu>";
  return text + "</system>";
}

// The virtual function 0x74b5 of a MI300X: 7 xGMI links of 64 GB/s.
TEST(NcclTopo, XgmiLinks_AreThoseOfTheSystem) {
  Reading reading = read(eight_gpus(
      "class=\"0x120000\" vendor=\"0x1002\" device=\"0x74b5\" subsystem_device=\"0x74a1\" "
      "link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"",
      "<gpu dev=\"0\"><xgmi target=\"1\" count=\"1\"/></gpu>"));
  ASSERT_EQ(format_findings(reading.findings), "");
  EXPECT_EQ(reading.parts.device->value, "mi300x");
  EXPECT_EQ(reading.parts.host_devices->value, 8);
  EXPECT_TRUE(clusters::resolved(reading).starts_with("mi300x: xgmi 8 x 448 GB/s"));
}

TEST(NcclTopo, FileWithoutGpus_CountsPciClasses) {
  Reading reading =
      read(eight_gpus("class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" "
                      "link_width=\"16\"",
                      ""));
  ASSERT_EQ(format_findings(reading.findings), "");
  EXPECT_EQ(reading.parts.host_devices->value, 8);
  EXPECT_FALSE(reading.parts.inside.has_value());
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
  golden::expect(
      "import/nccl-topo-faults.txt",
      transcribe({"<system version=\"1\">\n<cpu/></system>", "<graphs/>",
                  "<system><cpu>\n<gpu>\n<nvlink count=\"many\"/></gpu></cpu></system>",
                  "<system><cpu>\n<nic><net name=\"a\" speed=\"-4\"/></nic></cpu></system>"},
                 findings));
  EXPECT_EQ(read("<system><cpu>").findings.at(0).code, "RW0901");
}

}  // namespace nccl_topo_test
}  // namespace rankwright::importer
