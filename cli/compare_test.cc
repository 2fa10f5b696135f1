// `rankwright compare` as a whole: what it prints, its exit codes, its flags.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/golden.h"
#include "tests/said.h"

namespace rankwright::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kCourse = "examples/course-64.yaml";
const std::string kChunks = "examples/course-64-chunks.yaml";
const std::string kDeepSeek = "examples/deepseek-v3-2048.yaml";

TEST(CompareGolden, ChunksAgainstNone) {
  const Said said = say({"compare", kCourse, kChunks});
  EXPECT_EQ(said.code, 0);
  golden::expect("compare/course-64-chunks.txt", said.out);
  golden::expect("compare/course-64-chunks.md",
                 say({"compare", kCourse, kChunks, "--markdown"}).out);
  golden::expect("compare/course-64-chunks.json", say({"compare", kCourse, kChunks, "--json"}).out);
}

TEST(CompareGolden, TensorParallelismAcrossNodesAndAnotherBatch) {
  // tp 16 leaves one copy, so the batch that both leave open is another: tokens are compared.
  const Said said = say({"compare", kCourse, "tests/data/plans/course-64-tp16.yaml"});
  EXPECT_EQ(said.code, 0);
  golden::expect("compare/course-64-tp16.txt", said.out);
}

TEST(CompareGolden, ExpertsAndAPlanThatDoesNotFit) {
  const Said said = say({"compare", kDeepSeek, "tests/data/plans/deepseek-v3-ep32.yaml"});
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.err, HasSubstr("1 error, "));
  golden::expect("compare/deepseek-v3-ep32.txt", said.out);
}

TEST(CompareGolden, ClustersOfAnotherSize) {
  const Said said =
      say({"compare", "examples/llama-3.1-405b-16384.yaml", "examples/million-five-levels.yaml"});
  EXPECT_EQ(said.code, 0);
  golden::expect("compare/llama-3.1-405b-million.txt", said.out);
}

TEST(Compare, TakesOnePlanFromStandardInput) {
  const std::string course = golden::read(std::string(RANKWRIGHT_SOURCE_DIR) + "/" + kCourse);
  const json first = json::parse(say({"compare", "-", kChunks, "--json"}, course).out);
  const json files = json::parse(say({"compare", kCourse, kChunks, "--json"}).out);
  EXPECT_EQ(first["a"]["name"], "-");
  EXPECT_EQ(first["time"], files["time"]);
  EXPECT_EQ(say({"compare", kChunks, "-"}, course).code, 0);
  const Said both = say({"compare", "-", "-"}, course);
  EXPECT_EQ(both.code, 64);
  EXPECT_EQ(both.out, "");
  EXPECT_THAT(both.err, StartsWith("rankwright compare: standard input is one plan"));
}

TEST(Compare, PutsModelAndClusterOnTopOfBoth) {
  const json named = json::parse(say({"compare", kCourse, kChunks, "--model", "llama-3.1-70b",
                                      "--cluster", "dgx-a100 x 8", "--json"})
                                     .out);
  for (const std::string side : {"a", "b"}) {
    EXPECT_THAT(named[side]["headline"], HasSubstr("llama-3.1-70b ("));
    EXPECT_THAT(named[side]["headline"], HasSubstr("a100"));
    EXPECT_FALSE(named[side]["memory"].is_null());
  }
  for (const json& key : named["differs"]) EXPECT_NE(key["key"], "cluster");
}

TEST(Compare, RefusesWhatCannotBeAndSaysWhy) {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"compare", kCourse, "tests/data/plans/course-64-dp3.yaml"},
        {"compare", "tests/data/plans/course-64-dp3.yaml", kCourse}}) {
    const Said said = say(args);
    EXPECT_EQ(said.code, 2);
    EXPECT_EQ(said.out, "");
    EXPECT_THAT(said.err, HasSubstr("error[RW0102]"));
  }
}

TEST(Compare, FailsOnWhatCannotBeRead) {
  const Said said = say({"compare", kCourse, "no/such/plan.yaml"});
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.out, "");
  // One unreadable, one that cannot be: all that was found, and the graver code.
  const Said both =
      say({"compare", "tests/data/plans/course-64-dp3.yaml", "tests/data/faults/RW0901.yaml"});
  EXPECT_EQ(both.code, 1);
  EXPECT_THAT(both.err, HasSubstr("RW0102"));
  EXPECT_THAT(both.err, HasSubstr("RW0901"));
  EXPECT_EQ(say({"compare", kCourse}).code, 64);
}

TEST(Compare, WritesToAFileAndKeepsQuiet) {
  const Scratch file("compare-test.txt");
  const Said said = say({"compare", kCourse, kChunks, "--quiet", "-o", file.path()}, "", true);
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(said.err, "");
  EXPECT_EQ(golden::read(file.path()), say({"compare", kCourse, kChunks}).out);
}

}  // namespace
}  // namespace rankwright::cli
