// `rankwright lab worksheet` from its command line to its exit code.
#include "cli/lab/worksheet.h"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace lab_worksheet_test {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kMixed =
    "| axis | degree | placement | reason |\n"
    "|---|:-:|---|---|\n"
    "| TP | 8-way | within a node | splits the matrices |\n"
    "| PP | 8 | across nodes | layers in stages \\| bubble |\n"
    "| DPP | 2 | | |\n"
    "\n"
    "| communication | frequency | link |\n"
    "|---|---|---|\n"
    "| TP all-gather | every layer | infiniband |\n"
    "| DP all-reduce | once per step | any |\n"
    "\n"
    "| state | split over | replicated over | kept consistent by |\n"
    "|---|---|---|---|\n"
    "| parameters | TP | DP | |\n";

TEST(LabWorksheet, Blank_MatchesGolden) {
  const CommandResult said = run_command({"lab", "worksheet", "--blank"});
  EXPECT_EQ(said.code, 0) << said.err;
  golden::expect("lab/worksheet-blank.md", said.out);
}

TEST(LabWorksheet, Blank_HasNoAnswers) {
  EXPECT_THAT(run_command({"lab", "worksheet", "--blank"}).out, Not(HasSubstr("| TP | 8")));
  EXPECT_THAT(run_command({"lab", "worksheet", "--blank", "--show"}).out, HasSubstr("| TP | 8 |"));
}

TEST(LabWorksheet, SolvedSheet_IsAllRight) {
  for (const std::string plan : {"labs/zero-3.yaml", "examples/labs/experts.yaml"}) {
    const std::string solved =
        run_command({"lab", "worksheet", "--blank", "--show", "--plan", plan}).out;
    const CommandResult said =
        run_command({"lab", "worksheet", "--check", "-", "--plan", plan}, solved);
    EXPECT_EQ(said.code, 0) << said.out << said.err;
  }
}

TEST(LabWorksheet, Check_ExplainsEachCell) {
  Transcript transcript;
  EXPECT_EQ(transcript.run({"lab", "worksheet", "--check", "-"}, kMixed).code, 2);
  transcript.expect("lab/worksheet-check.txt");
}

TEST(LabWorksheet, Check_ShowsAnswersOnlyIfAsked) {
  const CommandResult shown = run_command({"lab", "worksheet", "--check", "-", "--show"}, kMixed);
  EXPECT_EQ(shown.code, 2);
  golden::expect("lab/worksheet-show.txt", shown.out);
  EXPECT_THAT(run_command({"lab", "worksheet", "--check", "-"}, kMixed).out,
              Not(HasSubstr("4 across infiniband")));
}

TEST(LabWorksheet, Markdown_HasAVerdictPerCell) {
  golden::expect("lab/worksheet-check.md",
                 run_command({"lab", "worksheet", "--check", "-", "--markdown"}, kMixed).out);
}

TEST(LabWorksheet, Json_IsForGraders) {
  const json all = json::parse(
      run_command({"lab", "worksheet", "--check", "-", "--json", "--quiet"}, kMixed).out);
  EXPECT_EQ(all["schema"], "rankwright.worksheet/1");
  EXPECT_EQ(all["all_right"], false);
  EXPECT_EQ(all["cells"][0]["row"], "TP");
  EXPECT_EQ(all["cells"][0]["column"], "degree");
  EXPECT_EQ(all["cells"][0]["verdict"], "right");
  EXPECT_FALSE(all["cells"][3].contains("answer"));
  std::size_t sum = 0;
  for (const auto& [name, cells] : all["counts"].items()) sum += std::size_t(cells);
  EXPECT_EQ(sum, all["cells"].size());
}

TEST(LabWorksheet, HostileText_IsSafeInEveryForm) {
  const std::string hostile =
      "| axis | degree |\n|---|---|\n| TP | \x1b]0;x\x07 \xff\xfe \xe2\x80\xae <script> |\n";
  for (const char* form : {"--json", "--markdown", "--quiet"}) {
    const CommandResult said = run_command({"lab", "worksheet", "--check", "-", form}, hostile);
    EXPECT_EQ(said.code, 2) << form;
    EXPECT_EQ(said.out.find('\x1b'), std::string::npos) << form;
  }
}

TEST(LabWorksheet, Faults_AreReportedWithTheirLine) {
  Transcript transcript;
  EXPECT_EQ(transcript.run({"lab", "worksheet", "--check", "-"}, "text\n").code, 1);
  EXPECT_EQ(transcript
                .run({"lab", "worksheet", "--check", "-"},
                     "| axis | degree |\n|---|---|\n| TP | 8 |\n| TP | 4 |\n")
                .code,
            1);
  EXPECT_EQ(transcript.run({"lab", "worksheet", "--check", "no-such-file.md"}).code, 1);
  EXPECT_EQ(transcript.run({"lab", "worksheet", "--blank", "--plan", "no-such-plan.yaml"}).code, 1);
  transcript.expect("lab/worksheet-faults.txt");
}

TEST(LabWorksheet, InvalidArguments_AreUsageErrors) {
  Transcript transcript;
  for (const std::vector<std::string>& args : {std::vector<std::string>{"lab", "worksheet"},
                                               {"lab", "worksheet", "--blank", "--check", "a.md"},
                                               {"lab", "worksheet", "--blank", "--json"},
                                               {"lab", "worksheet", "--check", "-", "--plan", "-"},
                                               {"lab", "worksheet", "--blnk"}})
    EXPECT_EQ(transcript.run(args).code, 64) << args.back();
  transcript.expect("lab/worksheet-usage.txt");
}

TEST(LabWorksheet, Help_IsThatOfTheCommand) {
  EXPECT_THAT(run_command({"help", "lab", "worksheet"}).out, HasSubstr("--blank"));
}

}  // namespace lab_worksheet_test
}  // namespace rankwright::cli
