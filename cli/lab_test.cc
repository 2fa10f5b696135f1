// `rankwright lab` from its command line to its exit code.
#include "rankwright/lab/lab.h"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace lab_test {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string kRight = "tests/data/labs/03.yaml";

TEST(LabVerb, NoArguments_ListsTheLabs) {
  const CommandResult said = run_command({"lab"});
  EXPECT_EQ(said.code, 0);
  golden::expect("lab/list.txt", said.out);
  const json list = json::parse(run_command({"lab", "--json"}).out);
  EXPECT_EQ(list["schema"], "rankwright.lab/1");
  EXPECT_EQ(list["labs"].size(), lab::labs().size());
}

TEST(LabVerb, Task_MatchesGolden) {
  golden::expect("lab/03.txt", run_command({"lab", "3"}).out);
  golden::expect("lab/03-template.yaml", run_command({"lab", "3", "--template"}).out);
}

TEST(LabVerb, TaskJson_HasTheQuestions) {
  const json task = json::parse(run_command({"lab", "3", "--json"}).out);
  EXPECT_EQ(task["lab"], 3);
  EXPECT_EQ(task["questions"][0]["key"], "bubble");
  EXPECT_EQ(task["questions"][0]["kind"], "percent");
  EXPECT_EQ(task["questions"][0]["step"], 0);
  EXPECT_EQ(task["steps"].size(), 5u);
}

TEST(LabVerb, CorrectAnswers_Pass) {
  const CommandResult said = run_command({"lab", "3", "--check", kRight});
  EXPECT_EQ(said.code, 0) << said.out;
  EXPECT_EQ(said.err, "");
  golden::expect("lab/03-right.txt", said.out);
}

TEST(LabVerb, WrongAnswers_AreExplained) {
  const CommandResult said =
      run_command({"lab", "3", "--check", "-"},
                  "lab: 3\nbubble: 37.5 %\nmicrobatches: 60\nheld: 8\nfaster: {parallelism: "
                  "{tp_size: 4, pp_size: 4}}\n");
  EXPECT_EQ(said.code, 2);
  golden::expect("lab/03-wrong.txt", said.out);
}

TEST(LabVerb, CheckJson_HasTheVerdicts) {
  const CommandResult said = run_command({"lab", "3", "--check", "-", "--json"}, "held: 8\n");
  EXPECT_EQ(said.code, 2);
  const json all = json::parse(said.out);
  EXPECT_EQ(all["schema"], "rankwright.lab/1");
  EXPECT_EQ(all["all_right"], false);
  EXPECT_EQ(all["verdicts"][0]["verdict"], "open");
  EXPECT_EQ(all["verdicts"][1]["verdict"], "wrong");
  EXPECT_FALSE(all["verdicts"][1].contains("arithmetic"));  // not before the answer is right
  EXPECT_THAT(std::string(all["verdicts"][1]["reason"]), HasSubstr("GPipe"));
}

TEST(LabVerb, UnreadableAnswers_ExitWithOne) {
  EXPECT_EQ(run_command({"lab", "3", "--check", "no-such-file.yaml"}).code, 1);
  const CommandResult said = run_command({"lab", "3", "--check", "-"}, "lab: many\n");
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("error[RW0903]"));
}

TEST(LabVerb, OneUnreadableAnswer_OthersAreChecked) {
  const CommandResult said =
      run_command({"lab", "3", "--check", "-"}, "held: many\nmicrobatches: 57.0\n");
  EXPECT_EQ(said.code, 2);
  EXPECT_EQ(said.err, "");
  golden::expect("lab/03-unread.txt", said.out);
}

TEST(LabVerb, UnknownKeys_AreWarnings) {
  const CommandResult said = run_command({"lab", "3", "--check", "-"}, "held: 4\nhedl: 4\n");
  EXPECT_EQ(said.code, 2);  // the other questions are unanswered
  golden::expect("lab/03-unknown-key.txt", said.err);
  EXPECT_EQ(run_command({"lab", "3", "--check", "-", "--quiet"}, "held: 4\nhedl: 4\n").err, "");
}

TEST(LabVerb, InvalidArguments_AreUsageErrors) {
  Transcript transcript;
  for (const std::vector<std::string>& args : {std::vector<std::string>{"lab", "99"},
                                               {"lab", "three"},
                                               {"lab", "--template"},
                                               {"lab", "--check", kRight},
                                               {"lab", "3", "--template", "--check", kRight},
                                               {"lab", "3", "--show", "bubbel"},
                                               {"lab", "3", "--hint", "all"},
                                               {"lab", "3", "--answers", "x"},
                                               {"lab", "--interactive"},
                                               {"lab", "--plan", "labs/none.yaml"}})
    EXPECT_EQ(transcript.run(args).code, 64) << args.back();
  transcript.expect("lab/usage.txt");
}

TEST(LabVerb, PlanFlag_PrintsThePlan) {
  const CommandResult said = run_command({"lab", "--plan", "labs/tp-8.yaml"});
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.out, golden::read(RANKWRIGHT_SOURCE_DIR "/examples/labs/tp-8.yaml"));
}

TEST(LabVerb, HintAndShow_MatchGolden) {
  Transcript transcript;
  EXPECT_EQ(transcript.run({"lab", "3", "--hint", "bubble"}).code, 0);
  EXPECT_EQ(transcript.run({"lab", "6", "--show", "dp"}).code, 0);
  EXPECT_EQ(transcript.run({"lab", "6", "--show", "cyclic"}).code, 0);
  transcript.expect("lab/hint-show.txt");
  const json shown = json::parse(run_command({"lab", "3", "--show", "all", "--json"}).out);
  EXPECT_EQ(shown["solutions"].size(), lab::find_lab(3)->questions.size());
  EXPECT_EQ(shown["solutions"][0]["value"], "27.3 %");
  const json hints = json::parse(run_command({"lab", "3", "--hint", "held", "--json"}).out);
  EXPECT_EQ(hints["hints"].size(), 2u);
}

TEST(LabVerb, ShownTimeline_IsDrawnAsText) {
  EXPECT_THAT(run_command({"lab", "3", "--show", "bubble"}, "", false, 80).out,
              HasSubstr("PP 0 |"));
}

TEST(LabVerb, Interactive_InputAndFile_PrintTheSame) {
  const std::string typed = "37.5 %\nhint\n27.3 %\nquit\n";
  const CommandResult from_input = run_command({"lab", "3", "--interactive"}, typed);
  const CommandResult from_file =
      run_command({"lab", "3", "--interactive", "--answers", "-"}, typed);
  EXPECT_EQ(from_input.code, 2);
  EXPECT_EQ(from_input.out, from_file.out);
  EXPECT_THAT(from_input.out, HasSubstr("lab 3: 1 of 7 right, 6 open\n"));
  EXPECT_EQ(run_command({"lab", "3", "--interactive", "--answers", "no-such-file"}).code, 1);
}

TEST(LabVerb, Interactive_EndOfInput_IsPolite) {
  const CommandResult said = run_command({"lab", "3", "--interactive"}, "27.3 %");  // no line end
  EXPECT_EQ(said.code, 2);
  EXPECT_EQ(said.err, "");
  EXPECT_THAT(said.out, HasSubstr("lab 3: 1 of 7 right, 6 open\n"));
}

TEST(LabVerb, Files_AreWrittenOnce_OtherContentIsKept) {
  const Scratch folder("lab-files");
  const std::string plan = folder.path() + "/examples/labs/tp-8.yaml";
  EXPECT_EQ(run_command({"lab", "2", "--files", folder.path()}).code, 0);
  EXPECT_EQ(golden::read(plan), golden::read(RANKWRIGHT_SOURCE_DIR "/examples/labs/tp-8.yaml"));
  EXPECT_EQ(run_command({"lab", "2", "--files", folder.path()}).code, 0);  // unchanged
  std::ofstream(plan) << "mine\n";
  const CommandResult said = run_command({"lab", "2", "--files", folder.path()});
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.err, HasSubstr("exists with other content"));
  EXPECT_EQ(golden::read(plan), "mine\n");
}

TEST(LabVerb, Grade_ReportsEachFile) {
  const Scratch folder("lab-grade");
  std::filesystem::create_directories(folder.path() + "/folder.yaml");
  std::ofstream(folder.path() + "/ada.yaml") << "lab: 3\nheld: 4\n";
  std::ofstream(folder.path() + "/bob.yaml") << "lab: 3\nheld: [\n";
  std::ofstream(folder.path() + "/eve.yaml") << "lab: 3\nfaster: ../../../../etc/passwd\n";
  std::ofstream(folder.path() + "/notes.txt") << "not an answer file\n";
  const CommandResult said = run_command({"lab", "--grade", folder.path(), "--json"});
  EXPECT_EQ(said.code, 2);
  const json all = json::parse(said.out);
  ASSERT_EQ(all["files"].size(), 3u);
  EXPECT_EQ(all["files"][0]["answers"]["held"], "right");
  EXPECT_TRUE(all["files"][1].contains("error"));
  EXPECT_EQ(all["files"][2]["answers"]["faster"], "unread");
  EXPECT_EQ(run_command({"lab", "--grade", folder.path() + "/none"}).code, 1);
  EXPECT_EQ(run_command({"lab", "--grade", folder.path() + "/folder.yaml"}).code, 1);  // empty
}

}  // namespace lab_test
}  // namespace rankwright::cli
