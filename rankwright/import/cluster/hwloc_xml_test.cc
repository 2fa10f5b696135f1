#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankwright/import/cluster/cluster_format.h"
#include "tests/support/cluster_parts.h"
#include "tests/support/finding_lines.h"
#include "tests/support/golden.h"
#include "tests/support/input_lines.h"

namespace rankwright::importer {
namespace hwloc_xml_test {

using clusters::Reading;
using testing::HasSubstr;

Reading read(std::string_view text) { return clusters::read("hwloc", text); }

std::string findings(const std::string& text) { return format_findings(read(text).findings); }

std::string topology(std::string_view objects) {
  return fmt::format(
      "<topology version=\"2.0\"><object type=\"Machine\" gp_index=\"1\">\n{}</object></topology>",
      objects);
}

// 50,000 MB/s to each of 6 switches; eight ConnectX-6 of 200 Gb/s.
TEST(HwlocXml, A100WithSwitches) {
  Reading reading = read(clusters::sample("hwloc-a100.xml"));
  ASSERT_EQ(format_findings(reading.findings), "");
  EXPECT_EQ(clusters::resolved(reading), "a100-80g: nvlink 8 x 300 GB/s, infiniband 1 x 25 GB/s");
}

// Two GPUs without NVLink, in slots of PCIe 4.0 x16.
TEST(HwlocXml, PcieOnly) {
  const std::string gpu =
      "<object type=\"PCIDev\" pci_type=\"0300 [10de:2684] [10de:167c] a1 00\" "
      "pci_link_speed=\"31.507692\"/>\n";
  Reading reading = read(topology(gpu + gpu));
  ASSERT_EQ(format_findings(reading.findings), "");
  EXPECT_THAT(clusters::resolved(reading), HasSubstr("rtx-4090: pcie 2 x 31.5 GB/s,"));
}

// Without NVML the file does not show NVLink: a GPU that is sold with it is assumed to have it.
TEST(HwlocXml, NoBandwidthMatrix_UsesTheCatalog) {
  Reading reading = read(
      topology("<object type=\"PCIDev\" pci_type=\"0302 [10de:2330] [10de:16c1] a1 00\" "
               "pci_link_speed=\"63.015385\"/><object type=\"PCIDev\" pci_type=\"0302 [10de:2330] "
               "[10de:16c1] a1 00\"/>"));
  EXPECT_THAT(clusters::resolved(reading), HasSubstr("nvlink 2 x 450 GB/s (assumed),"));
}

TEST(HwlocXml, UnknownPciId_UsesTheProductName) {
  Reading reading = read(topology(
      "<object type=\"PCIDev\" pci_type=\"0302 [10de:fffe] [10de:0000] a1 00\"><object "
      "type=\"OSDev\" name=\"nvml0\"><info name=\"GPUModel\" value=\"NVIDIA H200\"/></object>"
      "</object>"));
  EXPECT_EQ(reading.parts.device->value, "h200-sxm");
}

TEST(HwlocXml, Faults_HaveTheirLines) {
  const auto with_matrix = [](std::string_view matrix) {
    return fmt::format(
        "<topology><object type=\"Machine\"><object type=\"PCIDev\" gp_index=\"7\" "
        "pci_type=\"0302 [10de:2330] [10de:16c1] a1 00\"/></object>\n"
        "<distances2 name=\"NVLinkBandwidth\">{}</distances2></topology>",
        matrix);
  };
  golden::expect("import/hwloc-faults.txt",
                 transcribe({topology(""), "<root/>",
                             with_matrix("<indexes>7 8</indexes><u64values>1 2 3</u64values>"),
                             with_matrix("<indexes>7</indexes><u64values>-5</u64values>"),
                             with_matrix("<indexes>7 8</indexes><u64values>0 nan 0 0</u64values>")},
                            findings));
}

}  // namespace hwloc_xml_test
}  // namespace rankwright::importer
