#include <gtest/gtest.h>

#include "rankwright/import/cluster/cluster_format.h"
#include "tests/support/cluster_parts.h"
#include "tests/support/finding_lines.h"
#include "tests/support/golden.h"
#include "tests/support/input_lines.h"

namespace rankwright::importer {
namespace nccl_tests_test {

using clusters::Reading;

Reading read(std::string_view text) { return clusters::read("nccl-tests", text); }

std::string findings(const std::string& text) { return format_findings(read(text).findings); }

constexpr const char* kGatherRow = "1048576 262144 float none -1 100 10.00 7.50 0 100 10 7.5 0\n";

constexpr std::string_view kRanks =
    "# Rank 0 Pid 1 on a device 0 [0x1] NVIDIA H100 80GB HBM3\n"
    "# Rank 1 Pid 2 on a device 1 [0x2] NVIDIA H100 80GB HBM3\n"
    "# Rank 2 Pid 3 on b device 0 [0x1] NVIDIA H100 80GB HBM3\n"
    "# Rank 3 Pid 4 on b device 1 [0x2] NVIDIA H100 80GB HBM3\n";

TEST(NcclTests, ReadsRanksHostsAndTheTable) {
  const Reading reading = read(clusters::sample("nccl-tests-h100-2.txt"));
  ASSERT_EQ(format_findings(reading.findings), "");
  EXPECT_EQ(reading.parts.device->value, "h100-sxm");
  ASSERT_EQ(reading.parts.series.size(), 1u);
  const fit::MeasuredSeries& series = reading.parts.series.front();
  EXPECT_EQ(series.op, plan::Op::all_reduce);
  EXPECT_EQ(series.ranks, 16);
  EXPECT_EQ(series.hosts, 2);
  ASSERT_EQ(series.calls.size(), 11u);  // 8 bytes to 8 GiB by factors of 8
  EXPECT_EQ(series.calls.front(), (fit::MeasuredCall{Bytes{8}, 40.0_us}));
}

// Before version 2.11 there was no root column, and a gather had no redop either.
TEST(NcclTests, ReadsOlderTables) {
  const std::string old = std::string(kRanks) +
                          "all_gather_perf\n"
                          "1024 64 float 20.5 0.05 0.04 0e+00 20.1 0.05 0.04 0e+00\n"
                          "2048 128 float none 21.5 0.1 0.07 0e+00 21.1 0.1 0.07 N/A\n";
  const Reading reading = read(old);
  ASSERT_EQ(format_findings(reading.findings), "");
  EXPECT_EQ(reading.parts.series.at(0).op, plan::Op::all_gather);
  EXPECT_EQ(reading.parts.series.at(0).calls.at(0).time, 20.5_us);
  EXPECT_EQ(reading.parts.series.at(0).calls.at(1).time, 21.5_us);
}

// busbw is algbw times 2 x 3/4 for an all-reduce of four ranks, 3/4 for a reduce-scatter.
TEST(NcclTests, BandwidthRatio_IdentifiesTheCollective) {
  const auto op = [](std::string_view row) {
    const Reading reading = read(std::string(kRanks) + std::string(row));
    return reading.parts.series.empty() ? "unknown" : std::string(name(reading.parts.series[0].op));
  };
  EXPECT_EQ(op("1048576 262144 float sum -1 100 10.00 15.00 0 100 10 15 0\n"),
            name(plan::Op::all_reduce));
  EXPECT_EQ(op("1048576 262144 float sum -1 100 10.00 7.50 0 100 10 7.5 0\n"),
            name(plan::Op::reduce_scatter));
  // Without a reduction, a gather has the ratio of others: --collective must name it.
  EXPECT_EQ(op(kGatherRow), "unknown");
}

TEST(NcclTests, MpirunPrefix_IsStripped) {
  const Reading reading = read(
      "[1,0]<stdout>:# Rank 0 Pid 1 on a device 0 [0x1] H\n[1,0]<stdout>:# Rank 1 Pid 1 on a "
      "device 1 [0x1] H\n./build/sendrecv_perf -b 8\n"
      "[1,0]<stdout>: 64 16 float none -1 9.5 1 1 0 9.5 1 1 N/A\n");
  ASSERT_EQ(format_findings(reading.findings), "");
  EXPECT_EQ(reading.parts.series.at(0).op, plan::Op::send_recv);
}

TEST(NcclTests, SrunPrefix_IsStripped) {
  const Reading reading = read(
      "0: # Rank 0 Pid 1 on a device 0 [0x1] H\n0: # Rank 1 Pid 1 on a device 1 [0x1] H\n"
      "0: # sendrecv_perf\n0:       64 16 float none -1 9.5 1 1 0 9.5 1 1 N/A\n");
  ASSERT_EQ(format_findings(reading.findings), "");
  EXPECT_EQ(reading.parts.series.at(0).calls.size(), 1u);
}

TEST(NcclTests, Faults_AreReported) {
  const std::string row = "64 16 float sum -1 9.5 1 1 0 9.5 1 1 0\n";
  const std::string ranks(kRanks);
  golden::expect(
      "import/nccl-tests-faults.txt",
      transcribe({row, ranks, ranks + "# Rank 0 Pid 9 on c device 0 [0x1] H\n",
                  "# Rank 0 is late\n", ranks + "broadcast_perf\n" + row,
                  ranks + "# Rank 4 Pid 9 on c device 0 [0x1] H\nall_reduce_perf\n" + row,
                  ranks + kGatherRow},
                 findings));
}

}  // namespace nccl_tests_test
}  // namespace rankwright::importer
