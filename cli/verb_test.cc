// Behavior shared by all verbs: help, flags, exit codes, color, files.
#include "cli/verb.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/support/golden.h"
#include "tests/support/run_command.h"

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
  EXPECT_THAT(said.err, StartsWith("Example: rankwright "));
}

TEST(Run, VersionFlag_PrintsTheVersion) {
  for (const std::string flag : {"--version", "-V"}) {
    const CommandResult said = run_command({flag});
    EXPECT_EQ(said.code, 0);
    EXPECT_THAT(said.out, ::testing::MatchesRegex("rankwright [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  }
}

TEST(Run, MisspelledVerb_SuggestsTheNearest) {
  const CommandResult said = run_command({"chekc"});
  EXPECT_EQ(said.code, 64);
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(said.err, "rankwright: 'chekc' is not a verb\n  help: did you mean check?\n");
  EXPECT_EQ(run_command({"frobnicate"}).err,
            "rankwright: 'frobnicate' is not a verb\n  help: rankwright help lists them\n");
}

TEST(Help, Program_StartsWithAnExampleAndListsEveryVerb) {
  for (const std::string word : {"help", "--help", "-h"}) {
    const CommandResult said = run_command({word});
    EXPECT_EQ(said.code, 0);
    EXPECT_THAT(said.out, StartsWith("Example: rankwright "));
    for (const Verb& verb : verbs())
      EXPECT_THAT(said.out, HasSubstr("\n  " + std::string(verb.name) + " "));
  }
}

TEST(Help, HelpHelp_EqualsHelp) {
  const CommandResult said = run_command({"help", "help"});
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.out, run_command({"help"}).out);
  EXPECT_THAT(said.out, HasSubstr("--version"));
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
  for (const Verb& verb : verbs()) {
    const CommandResult said = run_command({std::string(verb.name), "--help"});
    EXPECT_EQ(said.code, 0);
    EXPECT_THAT(said.out, StartsWith("Example: " + std::string(verb.example) + "\n"));
    EXPECT_EQ(run_command({"help", std::string(verb.name)}).out, said.out);
    EXPECT_THAT(said.out, Not(HasSubstr("colour")));
    EXPECT_THAT(said.out, HasSubstr("suppress progress and notices"));
  }
  EXPECT_EQ(run_command({"help", "chek"}).err,
            "rankwright: 'chek' is not a verb\n  help: did you mean check?\n");
}

TEST(Flags, Unknown_SuggestsTheNearest) {
  const CommandResult said = run_command({"check", kPlan, "--jsn"});
  EXPECT_EQ(said.code, 64);
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(said.err, "rankwright check: there is no flag '--jsn'\n  help: did you mean --json?\n");
  EXPECT_EQ(
      run_command({"explain", kPlan, "--frobnicate"}).err,
      "rankwright explain: there is no flag '--frobnicate'\n  help: rankwright help explain\n");
}

TEST(Flags, SecondPlan_IsAUsageError) {
  const CommandResult said = run_command({"check", kPlan, "other.yaml"});
  EXPECT_EQ(said.code, 64);
  EXPECT_EQ(said.err,
            "rankwright check: one thing too many: 'other.yaml'\n  help: rankwright help check\n");
}

TEST(Flags, MissingValue_NamesTheFlag) {
  const CommandResult said = run_command({"check", kPlan, "--model"});
  EXPECT_EQ(said.code, 64);
  EXPECT_THAT(said.err, HasSubstr("--model"));
  EXPECT_EQ(run_command({"check"}).code, 64);
  EXPECT_EQ(run_command({"explain", kPlan, "--rank", "seventeen"}).code, 64);
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
  const CommandResult said = run_command({"check", kPlan, "-o", "/no/such/folder/file.txt"});
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(said.err,
            "rankwright check: there is no folder /no/such/folder\n"
            "  help: mkdir -p /no/such/folder\n");
  EXPECT_THAT(run_command({"check", kPlan, "-o", "/tmp"}).err, HasSubstr("/tmp is a folder"));
}

TEST(Output, OutputEqualsInput_IsRefused) {
  const Scratch file("verb-test-input.yaml");
  std::filesystem::current_path(RANKWRIGHT_SOURCE_DIR);
  const std::string text = golden::read(kPlan);
  std::ofstream(file.path()) << text;
  const std::filesystem::path path(file.path());
  const std::string otherwise = path.parent_path() / "." / path.filename();
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"check", file.path(), "-o", file.path()},
        {"check", file.path(), "-o", otherwise},
        {"explain", file.path(), "-o", file.path()},
        {"report", file.path(), "-o", file.path()},
        {"import", file.path(), "-o", file.path()},
        {"compare", kPlan, file.path(), "-o", file.path()},
        {"plan", file.path(), "--html", file.path()}}) {
    const CommandResult said = run_command(args);
    EXPECT_EQ(said.code, 64) << args[0];
    EXPECT_THAT(said.err, HasSubstr("which is read")) << args[0];
    EXPECT_EQ(golden::read(file.path()), text);
  }
}

TEST(Output, TwoFlagsWithOneFile_AreRefused) {
  const CommandResult said =
      run_command({"plan", kPlan, "--html", "none.html", "-o", "./none.html"});
  EXPECT_EQ(said.code, 64);
  EXPECT_THAT(said.err, HasSubstr("are one file"));
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

TEST(Output, TwoFormats_AreRefused) {
  const CommandResult said = run_command({"report", kPlan, "--markdown", "--json"});
  EXPECT_EQ(said.code, 64);
  EXPECT_EQ(said.err,
            "rankwright report: --json and --markdown are forms of one answer\n"
            "  help: one of them\n");
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
  for (const std::vector<std::string>& args : kCommands)
    for (const std::string& line : golden::lines(run_command(args, "", true).out)) {
      const std::size_t last = line.rfind(kEscape);
      EXPECT_TRUE(last == std::string::npos || line.substr(last, 4) == "\033[0m") << line;
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
  EXPECT_EQ(err.str(), "rankwright explain: cannot write to standard output\n");
}

}  // namespace verb_test
}  // namespace rankwright::cli
