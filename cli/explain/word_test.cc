// `rankwright explain WORD [PLAN]` from its command line to its exit code.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "rankwright/base/format.h"
#include "rankwright/planner/concept/concept_page.h"
#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace word_test {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string kPlan = "examples/course-64.yaml";

std::vector<std::string> split_words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// Returns the fact with a label of `explain WORD PLAN --json`.
json fact_of(const std::string& word, const std::string& label) {
  const json page = json::parse(run_command({"explain", word, kPlan, "--json"}).out);
  for (const json& fact : page["plan"]["facts"])
    if (fact["label"] == label) return fact;
  ADD_FAILURE() << word << " has no fact " << label;
  return {};
}

TEST(ExplainWordInPlan, AxesAndBubble_MatchGolden) {
  for (const std::string word : {"tp", "pp", "dp", "zero", "bubble", "mfu", "straggler",
                                 "checkpoint", "all-gather", "broadcast"})
    golden::expect("concept/course-64-" + word + ".txt",
                   run_command({"explain", word, kPlan, "--quiet"}, "", false, 80).out);
}

TEST(ExplainWordInPlan, Figures_AreThoseOfExplain) {
  const json plan = json::parse(run_command({"explain", kPlan, "--json"}).out);
  const json& step = plan["estimate"]["step"];
  const auto item = [&](const std::string& name, const char* key) {
    for (const json& one : step["items"])
      if (one["item"] == name) return one[key];
    return json(0.0);
  };
  EXPECT_EQ(fact_of("tp", "exposed")["value"], item("TP collectives", "seconds"));
  EXPECT_EQ(fact_of("tp", "overlapped")["value"], item("TP collectives", "overlapped_seconds"));
  EXPECT_EQ(fact_of("pp", "exposed")["value"], item("PP sends", "seconds"));
  EXPECT_EQ(fact_of("dp", "exposed")["value"], item("DP and ZeRO", "seconds"));
  EXPECT_EQ(fact_of("bubble", "bubble")["value"], item("bubble", "seconds"));
  EXPECT_EQ(fact_of("mfu", "MFU")["value"], step["mfu"]);
  EXPECT_EQ(fact_of("mfu", "step")["value"], step["seconds"]);
  EXPECT_EQ(fact_of("tp", "memory")["value"], plan["estimate"]["memory"]["total_bytes"]);
  EXPECT_EQ(fact_of("straggler", "before")["value"], step["seconds"]);
}

TEST(ExplainWordInPlan, Communication_IsARowOfExplain) {
  const json plan = json::parse(run_command({"explain", kPlan, "--json"}).out);
  const json page = json::parse(run_command({"explain", "send-recv", kPlan, "--json"}).out);
  ASSERT_EQ(page["plan"]["communication"].size(), 2u);  // forward and backward
  for (json row : page["plan"]["communication"]) {
    row.erase("exposed_seconds");
    row.erase("overlapped_seconds");
    EXPECT_THAT(plan["communication"], ::testing::Contains(row));
  }
}

TEST(ExplainWord, OtherNames_PrintThePageOfTheConcept) {
  const std::string tp = run_command({"explain", "tp"}).out;
  EXPECT_EQ(run_command({"explain", "tensor-parallelism"}).out, tp);
  EXPECT_EQ(run_command({"explain", "TP"}).out, tp);
  const std::string send = run_command({"explain", "send/recv"}).out;
  EXPECT_EQ(run_command({"explain", "p2p"}).out, send);
  EXPECT_EQ(run_command({"explain", "send-recv"}).out, send);
  EXPECT_EQ(run_command({"explain", "AllReduce"}).out, run_command({"explain", "all-reduce"}).out);
}

TEST(ExplainWord, EveryNextCommand_Works) {
  for (const planner::ConceptPage& page : planner::concept_pages())
    for (const std::string_view command : page.next) {
      if (command.empty() || command.starts_with("report")) continue;  // writes a file
      const CommandResult said = run_command(split_words(command));
      EXPECT_EQ(said.code, 0) << command << "\n" << said.err;
    }
}

TEST(ExplainWord, Svg_DrawsACollectiveAndPrintsThePage) {
  const Scratch file("all-reduce.svg");
  const CommandResult said = run_command({"explain", "all-reduce", "--svg", file.path()});
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.out, run_command({"explain", "all-reduce"}).out);
  EXPECT_THAT(golden::read(file.path()), HasSubstr("<title>all-reduce on 4 ranks</title>"));
  EXPECT_EQ(run_command({"explain", "all-reduce", "--svg", "-"}).out, golden::read(file.path()));
}

TEST(ExplainWord, InvalidArguments_AreUsageErrorsWithHelp) {
  Transcript transcript;
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"explain", "tp", "--svg", "tp.svg"},
        {"explain", "RW0301", kPlan},
        {"explain", "headroom", kPlan},
        {"explain", kPlan, kPlan},
        {"explain", "tp", kPlan, "--stages"}}) {
    const CommandResult said = transcript.run(args);
    EXPECT_EQ(said.code, 64) << args[1];
    EXPECT_EQ(said.out, "") << args[1];
  }
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"explain", "all-reduse"}, {"explain", "tp", "no-such.yaml"}}) {
    const CommandResult said = transcript.run(args);
    EXPECT_EQ(said.code, 1) << args[1];
    EXPECT_EQ(said.out, "") << args[1];
  }
  transcript.expect("cli/explain-word-usage.txt");
}

}  // namespace word_test
}  // namespace rankwright::cli
