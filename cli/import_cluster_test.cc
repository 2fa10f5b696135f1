#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "rankwright/import/cluster/cluster_file.h"
#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace import_cluster_test {

using testing::HasSubstr;

constexpr const char* kTopo = "tests/data/import/topo-nvswitch-8.txt";
constexpr const char* kTree = "tests/data/import/topology.conf";
constexpr const char* kNccl = "tests/data/import/nccl-topo-h100.xml";
constexpr const char* kMeasured = "tests/data/import/nccl-tests-h100-2.txt";

TEST(ImportCluster, SeveralFiles_AreMergedInOrder) {
  // 16 hosts of 8 GPUs below 4 leaf switches; no file gives the bandwidth of a NIC.
  Transcript transcript;
  const CommandResult said = transcript.run({"import", kTopo, kTree, "--device", "h100-sxm"});
  ASSERT_EQ(said.code, 0) << said.err;
  transcript.expect("cli/import-cluster.txt");
}

TEST(ImportCluster, WrittenFile_IsReadByPlan) {
  const Scratch file("cluster.yaml");
  ASSERT_EQ(run_command({"import", kNccl, kTree, "--hosts", "2", "-o", file.path(), "--quiet"}).err,
            "");
  const CommandResult said = run_command({"plan", "--model", "llama-3.2-1b", "--cluster",
                                          file.path(), "--global-batch", "64", "--seq", "2048"});
  EXPECT_EQ(said.code, 0) << said.err;
}

TEST(ImportCluster, ClusterFlag_TakesToolOutput) {
  const CommandResult said = run_command({"plan", "--model", "llama-3.2-1b", "--cluster", kNccl,
                                          "--global-batch", "64", "--seq", "2048"});
  EXPECT_EQ(said.code, 0) << said.err;
  // The GPU's type is not in the file: it is assumed, and the finding names the file.
  const CommandResult assumed =
      run_command({"check", "examples/course-64.yaml", "--cluster", kTopo});
  EXPECT_THAT(assumed.out, HasSubstr("note[RW0623]"));
  EXPECT_THAT(assumed.out, HasSubstr("--> " + std::string(kTopo)));
}

// 16 ranks on two hosts: sets the network's bandwidth, not NVLink's.
TEST(ImportCluster, MeasuredOutput_CalibratesABaseCluster) {
  const CommandResult said = run_command({"import", kMeasured, "--cluster", "dgx-h100 x 4"});
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out,
              HasSubstr("{name: nvlink, arity: 8, bandwidth: 450 GB/s, latency: 1.2 us}"));
  EXPECT_THAT(said.out, HasSubstr("origin: measured, latency_origin: measured}"));
  EXPECT_EQ(run_command({"import", kMeasured, "--cluster", "dgx-h100"}).code, 1);  // one host only
  EXPECT_THAT(run_command({"import", kTree, "--cluster", "dgx-h100"}).err,
              HasSubstr("warning[RW0622]"));
}

TEST(ImportCluster, ContradictingFiles_AreReported) {
  const std::vector<std::string> args{"import", "tests/data/import/nccl-topo-4090.xml", kTopo};
  const CommandResult said = run_command(args);
  EXPECT_EQ(said.code, 0);
  // The first file has 4 GPUs per host, the second 8.
  golden::expect("cli/import-cluster-contradiction.txt", said.err);
}

TEST(ImportCluster, BadFile_ErrorPointsAtTheLine) {
  const Scratch file("bad.conf");
  std::ofstream(file.path()) << "SwitchName=a Nodes=n0\nSwitchName=b Switches=c\n";
  const CommandResult said = run_command({"import", file.path(), "--device", "h100-sxm"});
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.out, "");
  EXPECT_THAT(said.err, HasSubstr("SwitchName=b Switches=c"));
}

TEST(ImportCluster, InvalidFlags_AreUsageErrors) {
  Transcript transcript;
  const std::string plan = "examples/course-64.yaml";
  EXPECT_EQ(transcript.run({"import", kTopo, "--device", "h100-sxm", "--collective", "all"}).code,
            64);
  EXPECT_EQ(transcript.run({"import", kTopo, "--from", "nccl"}).code, 64);
  EXPECT_THAT(transcript.run({"import", kTopo, "--device", "h100"}).err, HasSubstr("RW0908"));
  EXPECT_EQ(transcript.run({"import", plan, kTopo}).code, 64);
  EXPECT_THAT(transcript.run({"import", kTopo, plan, "--device", "h100-sxm"}).err,
              HasSubstr("RW0603"));
  EXPECT_EQ(transcript.run({"import", "none.txt"}).code, 1);
  transcript.expect("cli/import-cluster-flags.txt");
}

TEST(ImportCluster, StandardInput_IsRead) {
  std::ifstream stream(std::string(RANKWRIGHT_SOURCE_DIR) + "/" + kNccl);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_THAT(run_command({"import", "-"}, text).out, HasSubstr("name: h100-sxm-1x8\n"));
}

}  // namespace import_cluster_test
}  // namespace rankwright::cli
