#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankwright/import/cluster/cluster_format.h"
#include "tests/support/cluster_parts.h"
#include "tests/support/finding_lines.h"
#include "tests/support/golden.h"
#include "tests/support/input_lines.h"

namespace rankwright::importer {
namespace nvidia_smi_topo_test {

using clusters::Reading;
using testing::HasSubstr;

Reading read(std::string_view text) { return clusters::read("nvidia-smi-topo", text); }

std::string findings(const std::string& text) { return format_findings(read(text).findings); }

// 18 links of 25 GB/s are 450 GB/s; 8 of 10 NICs are next to a GPU, so each GPU has one with the
// catalog's 400 Gb/s.
TEST(NvidiaSmiTopo, HopperWithNvSwitch) {
  Reading reading = read(clusters::sample("topo-nvswitch-8.txt"));
  ASSERT_EQ(format_findings(reading.findings), "");
  EXPECT_EQ(reading.parts.host_devices->value, 8);
  EXPECT_EQ(reading.parts.nics->value, 8);
  EXPECT_EQ(clusters::resolved(reading, "h100-sxm"),
            "h100-sxm: nvlink 8 x 450 GB/s, infiniband 1 x 50 GB/s (assumed)");
}

// The matrix above with links of 50 GB/s.
TEST(NvidiaSmiTopo, GenerationDeterminesTheLinkRate) {
  Reading reading = read(clusters::sample("topo-nvswitch-8.txt"));
  EXPECT_THAT(clusters::resolved(reading, "b200-sxm"), HasSubstr("nvlink 8 x 900 GB/s,"));
}

TEST(NvidiaSmiTopo, AmbiguousLinkCount_TakesTheFirst_AndListsTheOthers) {
  Reading reading = read(clusters::sample("topo-nvswitch-8.txt"));
  EXPECT_EQ(clusters::resolved(reading),
            "h100-sxm: nvlink 8 x 450 GB/s, infiniband 1 x 50 GB/s (assumed)");
  golden::expect("import/nvidia-smi-topo-several-gpus.txt", format_findings(reading.findings));
}

// Two GPUs per PCIe switch, two switches per socket, two sockets: 2 x 2 x 2. PCIe 4.0 x16 has 16
// GT/s x 16 lanes x 128/130 / 8 = 31.5 GB/s, and a switch has one such uplink.
TEST(NvidiaSmiTopo, PcieTiers) {
  Reading reading = read(clusters::sample("topo-pcie-8.txt"));
  ASSERT_EQ(format_findings(reading.findings), "");
  EXPECT_EQ(clusters::resolved(reading, "l40s"),
            "l40s: pcie-switch 2 x 31.5 GB/s (assumed), pcie 2 x 31.5 GB/s a domain (assumed), "
            "socket 2 x 22 GB/s a domain (assumed), infiniband 1 x 50 GB/s a domain (assumed)");
}

// A GPU has 1 + 1 + 2 + 2 = 6 links of 25 GB/s, and all GPUs are connected by some path of links.
TEST(NvidiaSmiTopo, CubeMesh_SumsTheLinksOfAGpu) {
  Reading reading = read(clusters::sample("topo-cube-mesh-8.txt"));
  ASSERT_EQ(format_findings(reading.findings), "");
  EXPECT_THAT(clusters::resolved(reading), HasSubstr("v100-32g: nvlink 8 x 150 GB/s,"));
  // The only GPU with six links is found without --device.
  golden::expect("import/nvidia-smi-topo-cube-mesh.txt", format_findings(reading.findings));
}

// Four GPUs with four links to each other: 12, all that the generation has.
TEST(NvidiaSmiTopo, FullMeshOfFourGpus) {
  Reading reading = read(
      "     GPU0 GPU1 GPU2 GPU3\n"
      "GPU0  X   NV4  NV4  NV4\nGPU1 NV4   X   NV4  NV4\nGPU2 NV4  NV4   X   NV4\n"
      "GPU3 NV4  NV4  NV4   X\n");
  EXPECT_THAT(clusters::resolved(reading, "a100-80g"), HasSubstr("nvlink 4 x 300 GB/s,"));
}

TEST(NvidiaSmiTopo, BridgedPairsUnderPcie) {
  Reading reading = read(
      "\tGPU0\tNIC0\tGPU1\tGPU2\tGPU3\n"
      "GPU0\tX\tPHB\tSYS\tNV12\tSYS\nGPU1\tSYS\tSYS\tX\tSYS\tNV12\n"
      "GPU2\tNV12\tPHB\tSYS\tX\tSYS\nGPU3\tSYS\tSYS\tNV12\tSYS\tX\n");
  EXPECT_THAT(format_findings(reading.findings), HasSubstr("CUDA_VISIBLE_DEVICES=0,2,1,3"));
  EXPECT_THAT(clusters::resolved(reading, "a100-80g"),
              HasSubstr("nvlink 2 x 300 GB/s, socket 2 x 22 GB/s a domain"));
}

TEST(NvidiaSmiTopo, OneGpu) {
  Reading reading = read("\tGPU0\tCPU Affinity\nGPU0\t X \t0-15\n");
  ASSERT_EQ(format_findings(reading.findings), "");
  EXPECT_THAT(clusters::resolved(reading, "rtx-4090"), HasSubstr("rtx-4090: pcie 1 x"));
}

TEST(NvidiaSmiTopo, Faults_HaveTheirLocations) {
  golden::expect("import/nvidia-smi-topo-faults.txt",
                 transcribe({"nothing", "GPU0 GPU1\nGPU0 X NV4\n",
                             "GPU0 GPU1\nGPU0 X NV4\nGPU1 NV99 X\n", "GPU0 GPU1\nGPU1 NV4 X\n",
                             "GPU0 GPU1\nGPU0 X\n", "GPU0 GPU1\nGPU0 X NV4\nGPU1 SYS X\n"},
                            findings));
}

TEST(NvidiaSmiTopo, ClaimsOnlyItsOwnFormat) {
  EXPECT_TRUE(claims_nvidia_smi_topo("any", clusters::sample("topo-pcie-8.txt")));
  EXPECT_TRUE(claims_nvidia_smi_topo("any", clusters::sample("topo-nvswitch-8.txt")));
  EXPECT_FALSE(claims_nvidia_smi_topo("any", "GPU0 is busy\nGPU0 X\n"));
  EXPECT_FALSE(claims_nvidia_smi_topo("any", ""));
}

}  // namespace nvidia_smi_topo_test
}  // namespace rankwright::importer
