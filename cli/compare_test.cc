// `rankwright compare`: its output, exit codes and flags.
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace compare_test {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string kCourse = "examples/course-64.yaml";
const std::string kChunks = "examples/course-64-chunks.yaml";
const std::string kDeepSeek = "examples/deepseek-v3-2048.yaml";

TEST(CompareGolden, VirtualStages_MatchesGolden) {
  const CommandResult said = run_command({"compare", kCourse, kChunks});
  EXPECT_EQ(said.code, 0);
  golden::expect("compare/course-64-chunks.txt", said.out);
  golden::expect("compare/course-64-chunks.md",
                 run_command({"compare", kCourse, kChunks, "--markdown"}).out);
  golden::expect("compare/course-64-chunks.json",
                 run_command({"compare", kCourse, kChunks, "--json"}).out);
}

TEST(CompareGolden, TensorParallelismAcrossNodes_MatchesGolden) {
  // tp 16 leaves dp 1, so the default batch differs: times per token are compared.
  const CommandResult said =
      run_command({"compare", kCourse, "tests/data/plans/course-64-tp16.yaml"});
  EXPECT_EQ(said.code, 0);
  golden::expect("compare/course-64-tp16.txt", said.out);
}

TEST(CompareGolden, ExpertPlanThatDoesNotFit_MatchesGolden) {
  const CommandResult said =
      run_command({"compare", kDeepSeek, "tests/data/plans/deepseek-v3-ep32.yaml"});
  EXPECT_EQ(said.code, 2);
  golden::expect("compare/deepseek-v3-ep32.txt", said.out);
  golden::expect("compare/deepseek-v3-ep32-notices.txt", said.err);
}

TEST(CompareGolden, DifferentClusterSizes_MatchesGolden) {
  const CommandResult said = run_command(
      {"compare", "examples/llama-3.1-405b-16384.yaml", "examples/million-five-levels.yaml"});
  EXPECT_EQ(said.code, 0);
  golden::expect("compare/llama-3.1-405b-million.txt", said.out);
}

TEST(Compare, MaxSlowdown_FailsOnlyIfBIsSlowerOrCannotRun) {
  const json all = json::parse(run_command({"compare", kChunks, kCourse, "--json"}).out);
  // Without virtual stages the bubble is larger, so the step is longer.
  ASSERT_GT(all["time"]["difference_seconds"], 0);
  EXPECT_EQ(run_command({"compare", kChunks, kCourse, "--max-slowdown", "0.1%"}).code, 2);
  EXPECT_EQ(run_command({"compare", kChunks, kCourse, "--max-slowdown", "100"}).code, 0);
  EXPECT_EQ(run_command({"compare", kCourse, kChunks, "--max-slowdown", "0%"}).code, 0);
  // One of the two does not fit: a change away from it passes, a change to it fails.
  const std::string over = "tests/data/plans/deepseek-v3-ep32.yaml";
  const json only = json::parse(run_command({"compare", kDeepSeek, over, "--json"}).out);
  ASSERT_FALSE(only["verdict"]["only"].is_null());
  EXPECT_EQ(only["verdict"]["faster"], only["verdict"]["only"]);
  const bool b_runs = only["verdict"]["only"] == "b";
  const std::string& runs = b_runs ? over : kDeepSeek;
  const std::string& fails = b_runs ? kDeepSeek : over;
  EXPECT_EQ(run_command({"compare", fails, runs, "--max-slowdown", "5%"}).code, 0);
  EXPECT_EQ(run_command({"compare", runs, fails, "--max-slowdown", "5%"}).code, 2);
}

TEST(Compare, WrongMaxSlowdown_IsAUsageFault) {
  for (const char* wrong : {"fast", "-1%", "%", "1001"})
    EXPECT_EQ(run_command({"compare", kCourse, kChunks, "--max-slowdown", wrong}).code, 64)
        << wrong;
}

TEST(Compare, OnePlanFromStandardInput_EqualsTheFile) {
  const std::string course = golden::read(std::string(RANKWRIGHT_SOURCE_DIR) + "/" + kCourse);
  const json first = json::parse(run_command({"compare", "-", kChunks, "--json"}, course).out);
  const json files = json::parse(run_command({"compare", kCourse, kChunks, "--json"}).out);
  EXPECT_EQ(first["a"]["name"], "-");
  EXPECT_EQ(first["time"], files["time"]);
  EXPECT_EQ(run_command({"compare", kChunks, "-"}, course).code, 0);
  const CommandResult both = run_command({"compare", "-", "-"}, course);
  EXPECT_EQ(both.code, 64);
  EXPECT_EQ(both.out, "");
  golden::expect("cli/compare-one-input-twice.txt", both.err);
}

TEST(Compare, ModelAndClusterFlags_ApplyToBothPlans) {
  const json named =
      json::parse(run_command({"compare", kCourse, kChunks, "--model", "llama-3.1-70b", "--cluster",
                               "dgx-a100 x 8", "--json"})
                      .out);
  for (const std::string side : {"a", "b"}) {
    EXPECT_THAT(named[side]["headline"], HasSubstr("llama-3.1-70b"));
    EXPECT_THAT(named[side]["headline"], HasSubstr("a100"));
    EXPECT_FALSE(named[side]["memory"].is_null());
  }
  ASSERT_FALSE(named["differs"].empty());
  for (const json& key : named["differs"]) EXPECT_NE(key["key"], "cluster");
}

TEST(CompareGolden, WholeRun_MatchesGolden) {
  const std::vector<std::string> args{"compare", kCourse, kChunks,  "--tokens", "1T",
                                      "--price", "$2.10", "--days", "30"};
  const CommandResult said = run_command(args);
  EXPECT_EQ(said.code, 0);
  golden::expect("compare/whole-run.txt", said.out);
  std::vector<std::string> json_args = args;
  json_args.push_back("--json");
  const json all = json::parse(run_command(json_args).out);
  for (const std::string side : {"a", "b"}) {
    const json& run = all[side]["training"];
    const double steps = std::ceil(1e12 / double(all[side]["tokens_per_step"]));
    EXPECT_DOUBLE_EQ(run["seconds"], steps * double(all[side]["step_seconds"]));
    EXPECT_DOUBLE_EQ(run["gpu_hours"], 64 * double(run["seconds"]) / 3600);
    EXPECT_DOUBLE_EQ(run["cost"], 2.10 * double(run["gpu_hours"]));
  }
}

TEST(Compare, WholeRunFlags_NeedTokensAndTwoPlans) {
  Transcript transcript;
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"compare", kCourse, kChunks, "--price", "2"},
        {"compare", kCourse, kChunks, "--days", "30"},
        {"compare", kCourse, kChunks, "--tokens", "many"},
        {"compare", kCourse, kChunks, "--tokens", "1T", "--days", "0"},
        {"compare", kCourse, "--log", "tests/data/import/megatron.log", "--tokens", "1T"}}) {
    const CommandResult said = run_command(args);
    EXPECT_EQ(said.code, 64);
    transcript.add_output(args, said.err);
  }
  transcript.expect("cli/compare-whole-run-refused.txt");
}

TEST(Compare, InvalidPlan_IsRefusedWithTheReason) {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"compare", kCourse, "tests/data/plans/course-64-dp3.yaml"},
        {"compare", "tests/data/plans/course-64-dp3.yaml", kCourse}}) {
    const CommandResult said = run_command(args);
    EXPECT_EQ(said.code, 2);
    EXPECT_EQ(said.out, "");
    EXPECT_THAT(said.err, HasSubstr("error[RW0102]"));
  }
}

TEST(Compare, UnreadablePlan_ExitsWithOne) {
  const CommandResult said = run_command({"compare", kCourse, "no/such/plan.yaml"});
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.out, "");
  // One unreadable and one invalid plan: all findings, and the more severe exit code.
  const CommandResult both = run_command(
      {"compare", "tests/data/plans/course-64-dp3.yaml", "tests/data/faults/RW0901.yaml"});
  EXPECT_EQ(both.code, 1);
  EXPECT_THAT(both.err, HasSubstr("RW0102"));
  EXPECT_THAT(both.err, HasSubstr("RW0901"));
  EXPECT_EQ(run_command({"compare", kCourse}).code, 64);
}

TEST(Compare, OutputFileAndQuiet_PrintsNothing) {
  const Scratch file("compare-test.txt");
  const CommandResult said =
      run_command({"compare", kCourse, kChunks, "--quiet", "-o", file.path()}, "", true);
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(said.err, "");
  EXPECT_EQ(golden::read(file.path()), run_command({"compare", kCourse, kChunks}).out);
}

const std::string kGpt = "examples/gpt3-175b-1024.yaml";
const std::string kLogs = "tests/data/import/";

TEST(CompareLogGolden, SlowNvlinkTimers_MatchesGolden) {
  const std::vector<std::string> args{"compare", kGpt, "--log", kLogs + "slow-nvlink.log"};
  const CommandResult said = run_command(args);
  EXPECT_EQ(said.code, 0);
  golden::expect("compare/slow-nvlink.txt", said.out);
  std::vector<std::string> json_args = args, markdown = args;
  json_args.push_back("--json");
  markdown.push_back("--markdown");
  golden::expect("compare/slow-nvlink.md", run_command(markdown).out);
  const json all = json::parse(run_command(json_args).out);
  EXPECT_EQ(all["schema"], "rankwright.gap/1");
  EXPECT_EQ(all["time"]["explanations"][0]["name"], "nvlink");
  // 13.3 % is inside the error of 13.9 %, and the timers name the link all the same.
  EXPECT_EQ(all["time"]["inside"], true);
}

TEST(CompareLogGolden, StepTimeOnly_MatchesGolden) {
  golden::expect("compare/step-alone.txt",
                 run_command({"compare", kGpt, "--log", kLogs + "step-alone.log"}).out);
}

TEST(CompareLogGolden, OutOfMemoryAtTheLoss_MatchesGolden) {
  golden::expect(
      "compare/oom-loss.txt",
      run_command({"compare", "tests/data/plans/llama-8b-oom.yaml", "--log", kLogs + "oom.log"})
          .out);
}

TEST(CompareLog, SecondPlanAndLog_IsAUsageError) {
  EXPECT_EQ(run_command({"compare", kCourse, kChunks, "--log", kLogs + "megatron.log"}).code, 64);
  EXPECT_EQ(run_command({"compare", kCourse, "--log", "no/such.log"}).code, 1);
  const CommandResult nothing =
      run_command({"compare", kCourse, "--log", "tests/data/faults/RW0930.log"});
  EXPECT_EQ(nothing.code, 1);
  EXPECT_EQ(nothing.out, "");
  EXPECT_THAT(nothing.err, HasSubstr("RW0930"));
}

TEST(Calibrated, OwnLog_EstimateMatchesTheRun) {
  const std::string log = kLogs + "step-alone.log";
  const json explained =
      json::parse(run_command({"explain", kGpt, "--calibrate", log, "--json"}).out);
  const json gap = json::parse(run_command({"compare", kGpt, "--log", log, "--json"}).out);
  const double measured = gap["time"]["measured"]["median_seconds"];
  EXPECT_NEAR(double(explained["estimate"]["step"]["seconds"]) / measured, 1, 1e-6);
  Transcript transcript;
  for (const std::string verb : {"check", "explain"}) {
    const std::vector<std::string> args{verb, kGpt, "--calibrate", log};
    transcript.add_output(args, lines_with(run_command(args).out, log));
  }
  transcript.expect("cli/calibrated-by-own-log.txt");
  // Compared with its own run after calibration, the gap is zero.
  const json closed =
      json::parse(run_command({"compare", kGpt, "--log", log, "--calibrate", log, "--json"}).out);
  EXPECT_EQ(closed["time"]["inside"], true);
}

TEST(Calibrated, LogOfAnotherPlan_IsUsed) {
  const std::string log = kLogs + "step-alone.log";
  Transcript transcript;
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"compare", kGpt, kGpt, "--calibrate", log},
        {"explain", kCourse, "--calibrate", log, "--ran", kGpt}}) {
    const CommandResult said = run_command(args);
    EXPECT_EQ(said.code, 0);
    transcript.add_output(args, lines_with(said.out, log));
  }
  transcript.expect("cli/calibrated-by-another-log.txt");
  const CommandResult refused =
      run_command({"check", kCourse, "--calibrate", "tests/data/faults/RW0931.log"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.out, HasSubstr("RW0931"));
  EXPECT_EQ(run_command({"check", kCourse, "--calibrate", log, "--ran", "no/such.yaml"}).code, 1);
}

TEST(Calibrated, Search_UsesTheCalibration) {
  const std::vector<std::string> search{"plan", kGpt, "--json", "--threads", "1",
                                        "--tp", "8",  "--pp",   "8"};
  std::vector<std::string> calibrated = search;
  const std::string log = kLogs + "step-alone.log";
  calibrated.insert(calibrated.end(), {"--calibrate", log, "--ran", kGpt});
  const json before = json::parse(run_command(search).out),
             after = json::parse(run_command(calibrated).out);
  EXPECT_GT(double(after["best"]["step_seconds"]), double(before["best"]["step_seconds"]));
  EXPECT_EQ(run_command({"plan", kGpt, "--ran", kGpt}).code, 64);
}

TEST(CompareLog, PlanWithoutModel_ReportsNoMemoryEstimate) {
  golden::expect("compare/oom-no-model.txt",
                 run_command({"compare", kCourse, "--log", kLogs + "oom.log"}).out);
}

}  // namespace compare_test
}  // namespace rankwright::cli
