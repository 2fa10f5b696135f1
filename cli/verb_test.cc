// Behavior shared by all verbs: help, flags, exit codes, color, files.
#include "cli/verb.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace verb_test {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kPlan = "examples/course-64.yaml";
constexpr const char* kEscape = "\033[";

TEST(Run, NoArguments_PrintsAnExampleAndFails) {
  const CommandResult said = run_command({});
  EXPECT_EQ(said.code, 64);
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(said.err, run_command({"help"}).out);  // it starts with an example
}

TEST(Run, VersionFlag_PrintsTheVersion) {
  for (const std::string flag : {"--version", "-V"}) {
    const CommandResult said = run_command({flag});
    EXPECT_EQ(said.code, 0);
    EXPECT_THAT(said.out, ::testing::MatchesRegex("rankwright [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  }
}

TEST(Run, MisspelledVerb_SuggestsTheNearest) {
  Transcript transcript;
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"chekc"}, {"frobnicate"}, {"help", "chek"}}) {
    const CommandResult said = transcript.run(args);
    EXPECT_EQ(said.code, 64) << args.back();
    EXPECT_EQ(said.out, "");
  }
  transcript.expect("cli/misspelled-verb.txt");
}

TEST(Help, Program_StartsWithAnExampleAndListsEveryVerb) {
  ASSERT_FALSE(verbs().empty());
  for (const std::string word : {"help", "--help", "-h"}) {
    const CommandResult said = run_command({word});
    EXPECT_EQ(said.code, 0);
    golden::expect("cli/help.txt", said.out);
    for (const Verb& verb : verbs())
      EXPECT_THAT(said.out, HasSubstr("\n  " + std::string(verb.name) + " "));
  }
}

TEST(Help, HelpHelp_EqualsHelp) {
  const CommandResult said = run_command({"help", "help"});
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.out, run_command({"help"}).out);
}

TEST(Help, FailedStream_IsAFailure) {
  std::istringstream in;
  std::ostringstream out, err;
  out.setstate(std::ios::badbit);
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"help"}, {"help", "check"}, {"check", "--help"}, {"--version"}})
    EXPECT_EQ(run(args, {in, out, err}), 1) << args[0];
}

TEST(Help, Verb_StartsWithItsExample) {
  ASSERT_FALSE(verbs().empty());
  std::string examples;
  for (const Verb& verb : verbs()) {
    const CommandResult said = run_command({std::string(verb.name), "--help"});
    EXPECT_EQ(said.code, 0);
    ASSERT_NE(said.out, "");
    const std::string first = golden::lines(said.out).front();
    EXPECT_TRUE(first.ends_with(": " + std::string(verb.example))) << first;
    examples += first + "\n";
    EXPECT_EQ(run_command({"help", std::string(verb.name)}).out, said.out);
    EXPECT_THAT(said.out, Not(HasSubstr("colour")));
    EXPECT_THAT(said.out, HasSubstr("--quiet"));
  }
  golden::expect("cli/help-examples.txt", examples);
}

TEST(Flags, InvalidFlagOrArgument_IsAUsageErrorWithHelp) {
  Transcript transcript;
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {"check", kPlan, "--jsn"},
           {"explain", kPlan, "--frobnicate"},
           {"explain", kPlan, "other.yaml"},
           {"check", kPlan, "--model"},
           {"explain", kPlan, "--sweep", ""},
           {"check"},
           {"check", ""},
           {"explain", kPlan, "--rank", "seventeen"},
           {"report", kPlan, "--markdown", "--json"},
           {"completions", "bsh"},
       }) {
    const CommandResult said = transcript.run(args);
    EXPECT_EQ(said.code, 64) << args.back();
    EXPECT_EQ(said.out, "") << args.back();
  }
  transcript.expect("cli/invalid-flags.txt");
}

TEST(Output, OutputFlag_WritesTheFile) {
  const Scratch file("verb-test.txt");
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"check", kPlan}, {"explain", kPlan}, {"catalog", "models"}}) {
    std::vector<std::string> with = args;
    with.insert(with.end(), {"-o", file.path()});
    const CommandResult said = run_command(with, "", true);
    EXPECT_EQ(said.code, 0);
    EXPECT_EQ(said.out, "");
    // Files get no color, even on a terminal.
    EXPECT_EQ(golden::read(file.path()), run_command(args).out);
  }
}

TEST(Output, UnwritableFile_IsAnError) {
  Transcript transcript;
  for (const std::string path : {"/no/such/folder/file.txt", "/tmp"}) {
    const CommandResult said = transcript.run({"check", kPlan, "-o", path});
    EXPECT_EQ(said.code, 1) << path;
    EXPECT_EQ(said.out, "") << path;
  }
  transcript.expect("cli/unwritable-output.txt");
}

TEST(Output, OutputEqualsInput_IsRefused) {
  const Scratch file("verb-test-input.yaml");
  std::filesystem::current_path(RANKWRIGHT_SOURCE_DIR);
  const std::string text = golden::read(kPlan);
  std::ofstream(file.path()) << text;
  const std::filesystem::path path(file.path());
  const std::string otherwise = path.parent_path() / "." / path.filename();
  Transcript transcript;
  transcript.rename(file.path(), "input.yaml");
  transcript.rename(otherwise, "./input.yaml");
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"check", file.path(), "-o", file.path()},
        {"check", file.path(), "-o", otherwise},
        {"explain", file.path(), "-o", file.path()},
        {"report", file.path(), "-o", file.path()},
        {"import", file.path(), "-o", file.path()},
        {"compare", kPlan, file.path(), "-o", file.path()},
        {"plan", file.path(), "--html", file.path()}}) {
    EXPECT_EQ(transcript.run(args).code, 64) << args[0];
    EXPECT_EQ(golden::read(file.path()), text);
  }
  transcript.expect("cli/output-equals-input.txt");
}

TEST(Output, TwoFlagsWithOneFile_AreRefused) {
  Transcript transcript;
  EXPECT_EQ(transcript.run({"plan", kPlan, "--html", "none.html", "-o", "./none.html"}).code, 64);
  transcript.expect("cli/two-flags-one-file.txt");
  EXPECT_EQ(
      run_command({"explain", kPlan, "--timeline", "--svg", "/dev/null", "-o", "/dev/null"}).code,
      0);
}

TEST(Output, FlagWithDash_PrintsOnlyItsDocument) {
  const CommandResult drawn = run_command({"explain", kPlan, "--timeline", "--svg", "-"});
  EXPECT_EQ(drawn.code, 0);
  EXPECT_THAT(drawn.out, StartsWith("<svg"));
  EXPECT_THAT(drawn.out, ::testing::EndsWith("</svg>\n"));
  EXPECT_EQ(run_command({"explain", kPlan, "--timeline", "--svg", "-", "--json"}).code, 64);
}

const std::vector<std::vector<std::string>> kCommands{{"check", kPlan},
                                                      {"explain", kPlan},
                                                      {"explain", kPlan, "--rank", "17"},
                                                      {"explain", "RW0301"},
                                                      {"explain", "zero_stage"},
                                                      {"lab"},
                                                      {"lab", "3"},
                                                      {"catalog"},
                                                      {"catalog", "models"},
                                                      {"catalog", "codes", "RW0301"}};

TEST(Color, Enabled_OnlyOnATerminalWithoutNoColor) {
  for (std::vector<std::string> args : kCommands) {
    EXPECT_THAT(run_command(args).out, Not(HasSubstr("\033"))) << args[1];
    EXPECT_THAT(run_command(args, "", true).out, HasSubstr(kEscape));
    args.push_back("--no-color");
    EXPECT_THAT(run_command(args, "", true).out, Not(HasSubstr("\033")));
  }
}

TEST(Color, Json_HasNone) {
  for (std::vector<std::string> args : kCommands) {
    args.push_back("--json");
    EXPECT_THAT(run_command(args, "", true).out, Not(HasSubstr("\033")));
  }
}

TEST(Color, EveryLine_ResetsIt) {
  // A line cut out of the output must not color what follows it.
  for (const std::vector<std::string>& args : kCommands) {
    int colored = 0;
    for (const std::string& line : golden::lines(run_command(args, "", true).out)) {
      const std::size_t last = line.rfind(kEscape);
      if (last == std::string::npos) continue;
      ++colored;
      EXPECT_EQ(line.substr(last, 4), "\033[0m") << line;
    }
    EXPECT_GT(colored, 0) << args.back();
  }
}

TEST(Output, SameInput_GivesTheSameOutput) {
  for (std::vector<std::string> args : kCommands) {
    EXPECT_EQ(run_command(args).out, run_command(args).out);
    args.push_back("--json");
    EXPECT_EQ(run_command(args).out, run_command(args).out);
  }
}

TEST(Json, EveryVerb_HasASchemaVersion) {
  for (std::vector<std::string> args : kCommands) {
    args.push_back("--json");
    EXPECT_THAT(run_command(args).out, StartsWith("{\n  \"schema\": \"rankwright.")) << args[1];
  }
}

TEST(Output, FailedStream_IsAFailure) {
  std::filesystem::current_path(RANKWRIGHT_SOURCE_DIR);
  std::istringstream in;
  std::ostringstream out, err;
  out.setstate(std::ios::badbit);  // a full disk, a closed pipe
  const std::vector<std::string> args = {"explain", kPlan};
  EXPECT_EQ(run(args, {in, out, err}), 1);
  golden::expect("cli/failed-stream.txt", err.str());
}

}  // namespace verb_test
}  // namespace rankwright::cli
