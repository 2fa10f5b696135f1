#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/import/cluster/cluster_format.h"
#include "tests/support/cluster_parts.h"
#include "tests/support/finding_lines.h"
#include "tests/support/golden.h"
#include "tests/support/input_lines.h"

namespace rankwright::importer {
namespace slurm_topology_test {

using clusters::Reading;
using testing::ElementsAre;

Reading read(std::string_view text) { return clusters::read("slurm-topology", text); }

// Switches with 2 and 3 hosts; and two switches that nothing joins.
constexpr const char* kUneven =
    "SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n[2-4]\nSwitchName=c Switches=a,b\n";
constexpr const char* kTwoTrees = "SwitchName=a Nodes=n0\nSwitchName=b Nodes=n[1-3]\n";

std::string findings(const std::string& text) { return format_findings(read(text).findings); }

TEST(SlurmTopology, ReadsATreeOfTwoLevels) {
  Reading reading = read(clusters::sample("topology.conf"));
  ASSERT_EQ(format_findings(reading.findings), "");
  EXPECT_THAT(reading.parts.tree->value, ElementsAre(4, 4));
  EXPECT_EQ(reading.parts.host_names->value.front(), "gpu001");
  EXPECT_EQ(reading.parts.host_names->value.back(), "gpu016");
  EXPECT_EQ(clusters::resolved(reading, "h100-sxm"),
            "h100-sxm: nvlink 8 x 450 GB/s (assumed), infiniband 4 x 50 GB/s (assumed), "
            "spine 4 x 50 GB/s (assumed)");
}

// Racks of 18 hosts with 4 GPUs each are one NVLink domain of 72.
TEST(SlurmTopology, BlocksAreRacks) {
  Reading reading = read(clusters::sample("topology-blocks.conf"));
  ASSERT_EQ(format_findings(reading.findings), "");
  EXPECT_EQ(clusters::resolved(reading, "gb200"),
            "gb200: nvlink 72 x 900 GB/s (assumed), infiniband 2 x 50 GB/s (assumed)");
}

TEST(SlurmTopology, ReadsTheDefaultOfATopologyYaml) {
  const std::string text =
      "---\n- topology: racks\n  block:\n    block_sizes: [2]\n    blocks:\n"
      "      - block: b1\n        nodes: n[1-2]\n"
      "- topology: fabric\n  cluster_default: true\n  tree:\n    switches:\n"
      "      - switch: top\n        children: s[1-2]\n"
      "      - switch: s1\n        nodes: n[1-4]\n"
      "      - switch: s2\n        nodes: n[5-8]\n";
  ASSERT_NE(find_claiming_format("topology.yaml", text), nullptr);
  EXPECT_EQ(find_claiming_format("topology.yaml", text)->name, "slurm-topology");
  Reading reading = read(text);
  ASSERT_EQ(format_findings(reading.findings), "");
  EXPECT_THAT(reading.parts.tree->value, ElementsAre(4, 2));
  EXPECT_EQ(reading.parts.host_names->value.back(), "n8");
}

TEST(SlurmTopology, FewerHostsThanTheTree_UsesItsFirstHosts) {
  for (const auto& [hosts, shape] : {std::pair{4, "infiniband 4 x 50 GB/s (assumed)"},
                                     {2, "infiniband 2 x 50 GB/s (assumed)"},
                                     {6, "infiniband 6 x 50 GB/s (assumed)"},
                                     {8, "spine 2 x 50 GB/s (assumed)"}}) {
    Reading reading = read(clusters::sample("topology.conf"));
    reading.parts.hosts = ClusterPart<i64>{hosts, "--hosts"};
    EXPECT_THAT(clusters::resolved(reading, "h100-sxm"), testing::EndsWith(shape));
  }
  Reading reading = read(clusters::sample("topology.conf"));
  reading.parts.hosts = ClusterPart<i64>{17, "--hosts"};
  EXPECT_EQ(clusters::resolved(reading, "h100-sxm"), "nothing");
}

// 5 hosts on 2 switches are 2.5 each, rounded to 3.
TEST(SlurmTopology, UnevenSwitchesAreRounded) {
  const Reading reading = read(kUneven);
  EXPECT_THAT(reading.parts.tree->value, ElementsAre(3, 2));
  ASSERT_EQ(reading.findings.size(), 1u);
  EXPECT_EQ(reading.findings[0].code, "RW0624");
  EXPECT_EQ(reading.findings[0].where.line, 3);
}

TEST(SlurmTopology, NotATree_IsRejectedOrSimplifiedWithItsLine) {
  golden::expect(
      "import/slurm-topology-findings.txt",
      transcribe({"SwitchName=a Switches=b\nSwitchName=b Switches=a\n", "SwitchName=a Switches=a\n",
                  "SwitchName=a Nodes=n0\nSwitchName=c Switches=a,b\n",
                  "SwitchName=a Nodes=n0\n\nSwitchName=a Nodes=n1\n", "SwitchName=a\n",
                  "SwitchName=a oops Nodes=n1\n", "# nothing\n", "SwitchName=a Nodes=n[0-3\n",
                  "SwitchName=a Nodes=n[0-999999999]\n", kUneven, kTwoTrees},
                 findings));
}

// b is below a and below itself: it is attached to a only, and no switch has hosts.
TEST(SlurmTopology, SwitchThatIsItsOwnChild_IsRejected) {
  EXPECT_THAT(findings("SwitchName=a Switches=b\nSwitchName=b SitchName=a Switches=b\n"),
              testing::HasSubstr("RW0621"));
}

TEST(SlurmTopology, SeveralTrees_UsesTheLargest) {
  const Reading reading = read(kTwoTrees);
  EXPECT_THAT(reading.parts.tree->value, ElementsAre(3));
  ASSERT_EQ(reading.findings.size(), 1u);
  EXPECT_EQ(reading.findings[0].code, "RW0624");
}

// Two spines over the same leaves: one of them is enough for a tree.
TEST(SlurmTopology, SeveralSpines_FormOneTree) {
  const Reading reading = read(
      "SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n[2-3]\n"
      "SwitchName=s1 Switches=a,b\nSwitchName=s2 Switches=a,b\n");
  EXPECT_EQ(format_findings(reading.findings), "");
  EXPECT_THAT(reading.parts.tree->value, ElementsAre(2, 2));
}

/// Returns an even tree as a file; switches are named by their height and number.
std::string write_tree(const std::vector<i64>& tree) {
  std::string text;
  i64 switches = 1;
  for (std::size_t h = tree.size(); h-- > 0; switches *= tree[h])
    for (i64 i = 0; i < switches; ++i)
      text +=
          fmt::format("SwitchName=s{}-{} {}{}[{}-{}]\n", h, i,
                      h == 0 ? "Nodes=" : "Switches=", h == 0 ? "n" : fmt::format("s{}-", h - 1),
                      i * tree[h], (i + 1) * tree[h] - 1);
  return text;
}

RC_GTEST_PROP(SlurmTopology, EvenTreesRoundTrip, ()) {
  const std::vector<i64> tree = *rc::gen::resize(
      4, rc::gen::nonEmpty(rc::gen::container<std::vector<i64>>(rc::gen::inRange<i64>(2, 6))));
  const Reading reading = read(write_tree(tree));
  RC_ASSERT(format_findings(reading.findings) == "");
  RC_ASSERT(reading.parts.tree->value == tree);
}

}  // namespace slurm_topology_test
}  // namespace rankwright::importer
