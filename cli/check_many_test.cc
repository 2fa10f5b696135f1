// `rankwright check` on several files: --strict, --select, --ignore, --fix and --format.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace check_many_test {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kCourse = "examples/course-64.yaml";  // has warnings, no errors
const std::string kTooMany = "world_size: 64\nparallelism: {tp_size: 8, pp_size: 4, dp_size: 3}\n";

TEST(CheckMany, FilesAreReportedOneAfterAnother) {
  Transcript transcript;
  EXPECT_EQ(transcript.run({"check", kCourse, "-"}, kTooMany).code, 2);
  EXPECT_EQ(transcript.run({"check", "examples/gpt3-175b-1024.yaml", kCourse}).code, 0);
  transcript.expect("cli/check-many.txt");
}

TEST(CheckMany, AnUnreadableFileDecidesTheExitCode) {
  EXPECT_EQ(run_command({"check", kCourse, "no/such/plan.yaml"}).code, 1);
}

TEST(CheckMany, StrictFailsOnWarnings) {
  EXPECT_EQ(run_command({"check", kCourse}).code, 0);
  EXPECT_EQ(run_command({"check", kCourse, "--strict"}).code, 2);
  EXPECT_EQ(run_command({"check", kCourse, "--strict", "--select", "RW01"}).code, 0);
}

TEST(CheckMany, SelectAndIgnoreChooseCodes) {
  const auto codes = [](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"check", "-", "--json"});
    std::vector<std::string> all;
    const json answer = json::parse(run_command(flags, kTooMany).out);
    for (const json& one : answer["findings"]) all.push_back(one["code"]);
    return all;
  };
  const std::vector<std::string> all = codes({});
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front(), "RW0102");
  EXPECT_EQ(codes({"--select", "RW0102"}), std::vector<std::string>{"RW0102"});
  EXPECT_EQ(codes({"--ignore", "RW0102"}).size(), all.size() - 1);
  EXPECT_EQ(run_command({"check", "-", "--select", "E501"}, kTooMany).code, 64);
}

TEST(CheckMany, FixCorrectsMisspelledKeysOnly) {
  const Scratch file("check-fix.yaml");
  const std::string before =
      "model: llama-3.2-1b\ncluster: dgx-h100 x 1\njob: {global_batch: 64, sequence: 4096}\n"
      "parallelism: {dp_sze: 8, zero_stage: 1}  # all of it\n";
  std::ofstream(file.path()) << before;
  const CommandResult said = run_command({"check", file.path(), "--fix"});
  EXPECT_EQ(said.code, 0) << said.out;
  EXPECT_THAT(said.err, HasSubstr("'dp_sze' to 'dp_size'"));
  std::string after = before;
  after.replace(after.find("dp_sze"), 6, "dp_size");
  EXPECT_EQ(golden::read(file.path()), after);
  // The second time there is nothing to correct.
  EXPECT_EQ(run_command({"check", file.path(), "--fix"}).err, "");
  EXPECT_EQ(run_command({"check", "-", "--fix"}, before).code, 64);
}

TEST(CheckMany, FormatsHaveTheSameFindings) {
  const json one = json::parse(run_command({"check", "-", "--format", "json"}, kTooMany).out);
  EXPECT_EQ(one, json::parse(run_command({"check", "-", "--json"}, kTooMany).out));
  const json two =
      json::parse(run_command({"check", "-", kCourse, "--format", "json"}, kTooMany).out);
  ASSERT_EQ(two["files"].size(), 2u);
  EXPECT_EQ(two["files"][0], one);
  const json sarif = json::parse(run_command({"check", "-", "--format", "sarif"}, kTooMany).out);
  EXPECT_EQ(sarif["runs"][0]["results"].size(), one["findings"].size());
  EXPECT_EQ(run_command({"check", "-", "--format", "xml"}, kTooMany).code, 64);
}

TEST(CheckMany, GithubAnnotationsEscapeReservedCharacters) {
  const CommandResult said = run_command({"check", "-", "--format", "github"}, kTooMany);
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.out, StartsWith("::error file=-,line=2,"));
  EXPECT_THAT(said.out, HasSubstr("title=RW0102 "));
  for (std::size_t at = said.out.find("title="); at != std::string::npos;
       at = said.out.find("title=", at + 1)) {
    const std::string title = said.out.substr(at, said.out.find("::", at) - at);
    EXPECT_EQ(title.find_first_of(",:\r\n"), std::string::npos) << title;
  }
}

}  // namespace check_many_test
}  // namespace rankwright::cli
