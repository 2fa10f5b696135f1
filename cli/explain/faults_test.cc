// `rankwright explain --slow, --slow-link, --fail` from its command line to its exit code.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace faults_test {

using nlohmann::json;
using ::testing::StartsWith;

const std::string kPlan = "examples/course-64.yaml";

json parsed(std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"explain", kPlan, "--json"});
  const CommandResult said = run_command(flags);
  EXPECT_EQ(said.code, 0) << said.err;
  return json::parse(said.out);
}

using Flags = std::vector<std::string>;

/// Expects a usage error for each of these lists of flags, with the text of the golden file.
void expect_refused(const std::vector<Flags>& all, const std::string& golden_file) {
  Transcript transcript;
  ASSERT_FALSE(all.empty());
  for (Flags flags : all) {
    flags.insert(flags.begin(), {"explain", kPlan});
    const CommandResult said = transcript.run(flags);
    EXPECT_EQ(said.code, 64) << flags.back();
    EXPECT_EQ(said.out, "") << flags.back();
  }
  transcript.expect(golden_file);
}

TEST(ExplainSlow, SlowRank_ReportsLostTimeInTextAndJson) {
  // tp 8 x dp 2 x pp 4: rank 17 = tp 1 + 8 x (dp 0 + 2 x pp 1), on node 17 / 8 = 2.
  const CommandResult said = run_command({"explain", kPlan, "--slow", "17:1.3x"});
  EXPECT_EQ(said.code, 0);
  golden::expect("explain/course-64-slow-rank.txt", said.out);
  const json slow = parsed({"--slow", "17:1.3x"})["slow_ranks"];
  EXPECT_EQ(slow["waited_for"], 17);
  EXPECT_EQ(slow["times"], "simulated");
  const double before = slow["step_before"], after = slow["step_after"];
  EXPECT_GT(after, before);
  EXPECT_LE(after, 1.3 * before);
}

TEST(ExplainSlow, Factor_IsReadInEverySpelling) {
  const json x = parsed({"--slow", "17:1.3x"});
  EXPECT_EQ(parsed({"--slow", "17:1.3"}), x);
  EXPECT_EQ(parsed({"--slow", "17:130%"}), x);
}

TEST(ExplainSlow, FactorOne_ChangesNothing) {
  const json slow = parsed({"--slow", "17:1x"})["slow_ranks"];
  EXPECT_EQ(slow["step_before"], slow["step_after"]);
}

TEST(ExplainSlow, InvalidRankOrFactor_IsRefused) {
  std::vector<Flags> all{{"--slow", "64:2x"},
                         {"--slow", "17"},
                         {"--slow", "99999999999999999999:2"},
                         {"--slow", "1:2", "--slow", "1:3"},
                         {"--slow", "1:2", "--rank", "1"}};
  for (const std::string factor : {"-2x", "0", "0.05x", "101x", "nan", "1e999", "fast", "2xx", "x"})
    all.push_back({"--slow", "3:" + factor});
  expect_refused(all, "cli/explain-slow-usage.txt");
}

TEST(ExplainSlowLink, FactorShareAndBandwidth_AreRead) {
  const json half = parsed({"--slow-link", "infiniband:0.5x"});
  EXPECT_EQ(half["slow_links"]["links"][0]["bandwidth"], 25e9);
  EXPECT_EQ(parsed({"--slow-link", "infiniband:50%"}), half);
  EXPECT_EQ(parsed({"--slow-link", "infiniband:25 GB/s"}), half);
  EXPECT_GT(half["slow_links"]["step_after"], half["slow_links"]["step_before"]);
}

TEST(ExplainSlowLink, UnknownLevelOrBadBandwidth_IsRefused) {
  std::vector<Flags> all{{"--slow-link", "infinband:0.5x"}, {"--slow-link", "ethernet:0.5x"}};
  for (const std::string factor : {"0x", "-1", "2000x", "0 GB/s", "25 GB"})
    all.push_back({"--slow-link", "infiniband:" + factor});
  expect_refused(all, "cli/explain-slow-link-usage.txt");
}

TEST(ExplainSlow, SlowRankAndLink_CostsAddOnTopOfEachOther) {
  const json both = parsed({"--slow", "17:1.3x", "--slow-link", "infiniband:0.5x"});
  EXPECT_EQ(both["slow_ranks"]["step_before"], both["slow_links"]["step_after"]);
}

TEST(ExplainFail, FailedRank_ReportsHaltedRanksAndUsefulWork) {
  const CommandResult said = run_command({"explain", kPlan, "--fail", "17"});
  EXPECT_EQ(said.code, 0);
  golden::expect("explain/course-64-failed-rank.txt", said.out);
  const json dead = parsed({"--fail", "17"})["dead_rank"];
  const json& time = dead["time"];
  const double all = double(time["useful"]) + double(time["checkpoints"]) + double(time["lost"]) +
                     double(time["restarts"]);
  EXPECT_NEAR(all, 1, 1e-9);
  // 3.79 failures per 1,000 node-days on 8 nodes: 1000 / 3.79 / 8 = 32.98 days.
  EXPECT_NEAR(double(dead["between_failures"]["seconds"]) / 86400, 32.98, 0.01);
}

TEST(ExplainFail, MeasuredTimes_ReplaceTheDefaults) {
  const json dead =
      parsed({"--fail", "17", "--mtbf", "100 s", "--restart-time", "30 s", "--checkpoint-time",
              "10 s", "--checkpoint-interval", "40 s"})["dead_rank"];
  // 40 s of work take 100 e^0.3 (e^0.5 - 1) = 87.5682 s.
  EXPECT_NEAR(dead["time"]["useful"], 40 / 87.5682, 1e-6);
  EXPECT_TRUE(dead["interval"]["steps"].is_null());
  EXPECT_EQ(dead["restart"]["from"], "as given");
  // The best interval is at least as good as any given one.
  const std::vector<std::string> usual{"--fail", "17", "--mtbf", "3 h", "--checkpoint-time",
                                       "60 s"};
  const double best = parsed(usual)["dead_rank"]["time"]["useful"];
  for (const std::string interval : {"1 min", "10 min", "20 min", "1 h", "5 h"}) {
    std::vector<std::string> flags = usual;
    flags.insert(flags.end(), {"--checkpoint-interval", interval});
    EXPECT_LE(double(parsed(flags)["dead_rank"]["time"]["useful"]), best + 1e-5) << interval;
  }
}

TEST(ExplainFail, InvalidValues_AreRefused) {
  expect_refused({{"--fail", "64"},
                  {"--fail=-1"},
                  {"--fail", "3", "--failures", "llama3"},
                  {"--fail", "3", "--mtbf", "3"},
                  {"--fail", "3", "--mtbf", "0 s"},
                  {"--fail", "3", "--mtbf", "3 h", "--failures", "rsc-1"},
                  {"--mtbf", "3 h"},
                  {"--fail", "3", "--mtbf", "1e300 h"}},
                 "cli/explain-fail-usage.txt");
}

TEST(ExplainFaults, ScheduleFile_IsRefused) {
  EXPECT_EQ(run_command({"explain", "examples/waits-for-itself.csv", "--slow", "1:2"}).code, 64);
}

TEST(ExplainFaults, Markdown_StartsWithAHeading) {
  EXPECT_THAT(run_command({"explain", kPlan, "--fail", "1", "--markdown"}).out, StartsWith("# "));
}

TEST(ExplainFaults, MillionGpus_IsAnswered) {
  const CommandResult said =
      run_command({"explain", "examples/million-five-levels.yaml", "--slow", "1048575:1.1x",
                   "--slow-link", "leaf:0.5x", "--fail", "1048575"});
  EXPECT_EQ(said.code, 0);
  // The last of tp 8 x dp 8,192 x pp 16 ranks is on the last pp rank.
  golden::expect("cli/explain-slow-rank-of-million.txt", section_of(said.out, "Rank 1048575"));
}

}  // namespace faults_test
}  // namespace rankwright::cli
