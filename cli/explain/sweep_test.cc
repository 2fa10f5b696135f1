// `rankwright explain --sweep` from its command line to its exit code.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace sweep_test {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kPlan = "examples/course-64.yaml";

TEST(ExplainSweep, OwnValue_PrintsTheFiguresOfExplain) {
  const json explained = json::parse(run_command({"explain", kPlan, "--json"}).out);
  const json swept =
      json::parse(run_command({"explain", kPlan, "--sweep", "microbatches=32", "--json"}).out);
  ASSERT_EQ(swept["rows"].size(), 1u);
  const json& row = swept["rows"][0];
  EXPECT_TRUE(row["own"].get<bool>());
  EXPECT_EQ(row["step_seconds"], explained["estimate"]["step"]["seconds"]);
}

TEST(ExplainSweep, Course_ShowsTheBubbleShrink) {
  Transcript transcript;
  EXPECT_EQ(transcript.run({"explain", kPlan, "--sweep", "microbatches=1,4,8,16,32,64"}).code, 0);
  transcript.expect("sweep/course-64.txt");
}

TEST(ExplainSweep, Svg_IsWrittenInAdditionToTheTable) {
  const Scratch file("sweep.svg");
  const std::vector<std::string> args{"explain", kPlan, "--sweep", "pp=1..8"};
  std::vector<std::string> with_svg = args;
  with_svg.insert(with_svg.end(), {"--svg", file.path()});
  const CommandResult said = run_command(with_svg);
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.out, run_command(args).out);
  EXPECT_THAT(golden::read(file.path()), StartsWith("<svg "));
}

TEST(ExplainSweep, Forms) {
  EXPECT_THAT(run_command({"explain", kPlan, "--sweep", "tp", "--markdown"}).out, StartsWith("# "));
  const Scratch file("sweep.txt");
  const CommandResult said = run_command({"explain", kPlan, "--sweep", "tp", "-o", file.path()});
  EXPECT_EQ(said.out, "");
  EXPECT_THAT(golden::read(file.path()), HasSubstr("TP"));
}

TEST(ExplainSweep, InvalidPlan_PrintsItsErrors) {
  const CommandResult said =
      run_command({"explain", "tests/data/plans/course-64-dp3.yaml", "--sweep", "tp"});
  EXPECT_EQ(said.code, 2);
  EXPECT_EQ(said.err, run_command({"check", "tests/data/plans/course-64-dp3.yaml"}).out);
}

TEST(ExplainSweep, InvalidArguments_AreUsageErrorsWithHelp) {
  Transcript transcript;
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"--sweep", "pp=64..1"},
                                                {"--sweep", "micobatches=1..64"},
                                                {"--sweep", "banana=1..64"},
                                                {"--sweep", "zero=0..4"},
                                                {"--sweep", "tp=1..1000:1"},
                                                {"--sweep", "tp=1,2,x"},
                                                {"--sweep", "tp", "--stages"},
                                                {"--sweep", "tp", "--timeline"}}) {
    std::vector<std::string> args{"explain", kPlan};
    args.insert(args.end(), flags.begin(), flags.end());
    const CommandResult said = transcript.run(args);
    EXPECT_EQ(said.code, 64) << flags[1];
    EXPECT_EQ(said.out, "") << flags[1];
  }
  transcript.expect("cli/explain-sweep-usage.txt");
}

TEST(ExplainSweep, Schedule_HasNone) {
  EXPECT_EQ(
      run_command({"explain", "examples/waits-for-itself.csv", "--sweep", "microbatches"}).code,
      64);
}

}  // namespace sweep_test
}  // namespace rankwright::cli
