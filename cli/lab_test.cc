// `rankwright lab` from its command line to its exit code.
#include "rankwright/lab/lab.h"

#include <gmock/gmock.h>

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
  EXPECT_EQ(all["verdicts"][2]["verdict"], "wrong");
  EXPECT_EQ(all["verdicts"][2]["expected"], "4");
  EXPECT_THAT(std::string(all["verdicts"][2]["reason"]), HasSubstr("gpipe"));
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
  for (const std::vector<std::string>& args : {std::vector<std::string>{"lab", "11"},
                                               {"lab", "three"},
                                               {"lab", "--template"},
                                               {"lab", "--check", kRight},
                                               {"lab", "3", "--template", "--check", kRight},
                                               {"lab", "--plan", "labs/none.yaml"}})
    EXPECT_EQ(transcript.run(args).code, 64) << args.back();
  transcript.expect("lab/usage.txt");
}

TEST(LabVerb, PlanFlag_PrintsThePlan) {
  const CommandResult said = run_command({"lab", "--plan", "labs/tp-8.yaml"});
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.out, golden::read(RANKWRIGHT_SOURCE_DIR "/examples/labs/tp-8.yaml"));
}

}  // namespace lab_test
}  // namespace rankwright::cli
