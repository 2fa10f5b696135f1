// `rankwright explain` from its command line to its exit code.
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "rankwright/catalog/glossary.h"
#include "rankwright/import/plan/plan_keys.h"
#include "rankwright/rules/rule.h"
#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace explain_test {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kPlan = "examples/course-64.yaml";

TEST(Explain, PlanWithWarnings_NamesTheCheckCommand) {
  const CommandResult said = run_command({"explain", kPlan});
  EXPECT_EQ(said.code, 0);
  golden::expect("explain/course-64-notices.txt", said.err);
  EXPECT_EQ(run_command({"explain", kPlan, "--quiet"}).err, "");
}

TEST(Explain, StandardInput_EqualsTheFile) {
  const std::string plan = golden::read(RANKWRIGHT_SOURCE_DIR "/examples/course-64.yaml");
  EXPECT_EQ(run_command({"explain", "-"}, plan).out, run_command({"explain", kPlan}).out);
  EXPECT_EQ(run_command({"explain", "-"}, "").code, 1);
}

TEST(Explain, InvalidPlan_PrintsItsErrors) {
  const CommandResult said = run_command({"explain", "tests/data/plans/course-64-dp3.yaml"});
  EXPECT_EQ(said.code, 2);
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(said.err, run_command({"check", "tests/data/plans/course-64-dp3.yaml"}).out);
}

TEST(Explain, PlanThatDoesNotFit_IsStillExplained) {
  Transcript transcript;
  const CommandResult said = transcript.run(
      {"explain", "-"}, "model: llama-3.1-8b\ncluster: dgx-h100 x 8\nparallelism: {dp_size: 64}\n");
  EXPECT_EQ(said.code, 2);
  // 8.03 B parameters of 16 bytes are 120 GiB; an H100 has 79.1.
  transcript.expect("explain/llama-3.1-8b-does-not-fit.txt");
}

TEST(Explain, UnreadablePlan_ExitsWithOne) {
  const CommandResult said = run_command({"explain", "tests/data/faults/RW0901.yaml"});
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.out, "");
  EXPECT_THAT(said.err, StartsWith("error[RW0901]"));
  EXPECT_EQ(run_command({"explain", "examples"}).code, 1);  // a directory
}

TEST(ExplainRank, FirstAndLastRank_AreExplained) {
  EXPECT_EQ(run_command({"explain", kPlan, "--rank", "0"}).code, 0);
  EXPECT_EQ(run_command({"explain", kPlan, "--rank", "63"}).code, 0);
}

TEST(Explain, InvalidArguments_AreUsageErrorsWithHelp) {
  Transcript transcript;
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"--rank", "-1"},
                                                {"--rank", "64"},
                                                {"--rank", "99999999999999999999"},
                                                {"--sensitivity", "--stages"},
                                                {"--against", kPlan}}) {
    std::vector<std::string> args{"explain", kPlan};
    args.insert(args.end(), flags.begin(), flags.end());
    const CommandResult said = transcript.run(args);
    EXPECT_EQ(said.code, 64) << flags.back();
    EXPECT_EQ(said.out, "") << flags.back();
  }
  transcript.expect("cli/explain-usage.txt");
}

TEST(ExplainRank, Json_MatchesTheText) {
  // tp 8 x dp 2 x pp 4: rank 17 = tp 1 + 8 x (dp 0 + 2 x pp 1).
  const json rank = json::parse(run_command({"explain", kPlan, "--rank", "17", "--json"}).out);
  EXPECT_EQ(rank["schema"], "rankwright.rank/2");
  EXPECT_EQ(rank["rank"], 17);
  EXPECT_EQ(rank["coordinates"]["tp"], 1);
  EXPECT_EQ(rank["coordinates"]["dp"], 0);
  EXPECT_EQ(rank["coordinates"]["pp"], 1);
  EXPECT_EQ(rank["device"]["host"], 2);
  EXPECT_EQ(rank["pipeline"]["previous"], 1);
  EXPECT_EQ(rank["pipeline"]["next"], 33);
  golden::expect("explain/course-64-rank-17.txt",
                 run_command({"explain", kPlan, "--rank", "17"}).out);
}

TEST(ExplainWord, EveryDiagnosticCode_HasAPage) {
  ASSERT_FALSE(rules::pages().empty());
  for (const rules::Page* page : rules::pages()) {
    const std::string code(page->code);
    const CommandResult said = run_command({"explain", code});
    EXPECT_EQ(said.code, 0);
    EXPECT_THAT(said.out, HasSubstr("[" + code + "]: " + std::string(page->title) + "\n"));
    EXPECT_EQ(json::parse(run_command({"explain", code, "--json"}).out)["why"], page->why);
  }
}

TEST(ExplainWord, EveryPlanKey_IsFoundByShortAndLongName) {
  const std::string zero = run_command({"explain", "zero_stage"}).out;
  golden::expect("cli/explain-plan-key.txt", zero);
  ASSERT_GT(golden::lines(zero).size(), 2u);
  const std::string heading = golden::lines(zero)[2];  // every key starts with this section
  ASSERT_FALSE(importer::key_rows().empty());
  for (const importer::KeyRow& row : importer::key_rows()) {
    const std::string path(row.key.path);
    const CommandResult said = run_command({"explain", path});
    EXPECT_EQ(said.code, 0);
    EXPECT_THAT(said.out, StartsWith(path + "\n\n" + heading + "\n"));
    EXPECT_EQ(run_command({"explain", "plan." + path}).out, said.out);
    EXPECT_EQ(json::parse(run_command({"explain", path, "--json"}).out)["key"], path);
  }
  EXPECT_EQ(run_command({"explain", "parallelism.zero_stage"}).out, zero);
  EXPECT_EQ(run_command({"explain", "plan.zero_stage"}).out, zero);
}

TEST(ExplainWord, UnknownWord_SuggestsTheNearestOrTheCatalog) {
  Transcript transcript;
  for (const std::string word : {"zero_stag", "RW9999", "no/such/plan.yaml"}) {
    const CommandResult said = transcript.run({"explain", word});
    EXPECT_EQ(said.code, 1) << word;
    EXPECT_EQ(said.out, "") << word;
  }
  transcript.expect("cli/explain-unknown-word.txt");
}

TEST(ExplainWord, LowerCaseCode_EqualsUpperCase) {
  EXPECT_EQ(run_command({"explain", "rw0301"}).out, run_command({"explain", "RW0301"}).out);
}

TEST(ExplainJson, Plan_MatchesTheText) {
  const json explain_view = json::parse(run_command({"explain", kPlan, "--json"}).out);
  const std::string text = run_command({"explain", kPlan}, "", false, 400).out;
  EXPECT_EQ(explain_view["schema"], "rankwright.explain/2");
  EXPECT_EQ(explain_view["world"], 64);
  EXPECT_EQ(explain_view["plan"]["tp"], 8);
  EXPECT_THAT(text, HasSubstr(explain_view["headline"].get<std::string>()));
  for (const char* table : {"axes", "communication", "assumed"})
    ASSERT_FALSE(explain_view[table].empty()) << table;
  for (const json& axis : explain_view["axes"])
    EXPECT_THAT(text, HasSubstr(axis["reason"].get<std::string>()));
  for (const json& row : explain_view["communication"])
    EXPECT_THAT(text, HasSubstr(row["communication"].get<std::string>()));
  for (const json& row : explain_view["assumed"])
    EXPECT_THAT(text, HasSubstr(row["why"].get<std::string>()));
}

TEST(ExplainJson, Estimate_ItemsAddUpToTheTotals) {
  const json explain_view = json::parse(
      run_command({"explain", "examples/llama-3.1-405b-16384.yaml", "--json"}).out)["estimate"];
  double seconds = 0, bytes = 0;
  for (const json& item : explain_view["step"]["items"]) {
    seconds += item["seconds"].get<double>();
    EXPECT_FALSE(item["origin"].get<std::string>().empty());
  }
  for (const json& entry : explain_view["memory"]["entries"]) {
    bytes += entry["bytes"].get<double>();
    EXPECT_FALSE(entry["origin"].get<std::string>().empty());
  }
  EXPECT_NEAR(seconds / explain_view["step"]["seconds"].get<double>(), 1, 1e-9);
  EXPECT_NEAR(bytes / explain_view["memory"]["total_bytes"].get<double>(), 1, 1e-9);
  EXPECT_GT(explain_view["step"]["band"]["within"].get<double>(), 0);
  EXPECT_GT(explain_view["memory"]["band"]["runs"].get<int>(), 0);
  // One per pp rank; the largest is that of the memory estimate.
  const std::vector<double> totals = explain_view["memory"]["total_bytes_by_pp_rank"];
  EXPECT_EQ(totals.size(), 16u);
  EXPECT_EQ(*std::max_element(totals.begin(), totals.end()), explain_view["memory"]["total_bytes"]);
}

TEST(ExplainJson, PlanWithoutModel_HasTheMemoryOfTheAssumedOne) {
  const json without = json::parse(run_command({"explain", kPlan, "--json"}).out);
  const json with =
      json::parse(run_command({"explain", kPlan, "--json", "--model", "llama-3.1-70b"}).out);
  EXPECT_EQ(without["estimate"]["memory"], with["estimate"]["memory"]);
  EXPECT_TRUE(without["model"]["reference"]);
}

TEST(ExplainSensitivity, OnePlan_RanksConstantsInTextAndJson) {
  const std::string plan = "examples/llama-3.1-405b-16384.yaml";
  const json all = json::parse(run_command({"explain", plan, "--sensitivity", "--json"}).out);
  EXPECT_EQ(all["schema"], "rankwright.sensitivity/1");
  const std::string text = run_command({"explain", plan, "--sensitivity"}).out;
  double last = 1;
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_LE(all["constants"][i]["moves"].get<double>(), last);
    last = all["constants"][i]["moves"];
    EXPECT_THAT(text, HasSubstr("\n  " + all["constants"][i]["constant"].get<std::string>() + " "));
  }
}

TEST(ExplainSensitivity, Against_ComparesTwoPlans) {
  const std::string plan = "examples/llama-3.1-405b-16384.yaml";
  const std::string other = "examples/deepseek-v3-2048.yaml";
  golden::expect("explain/llama-3.1-405b-against-deepseek-v3.txt",
                 run_command({"explain", plan, "--sensitivity", "--against", other}).out);
  const json rivals = json::parse(
      run_command({"explain", plan, "--sensitivity", "--against", other, "--json"}).out);
  EXPECT_EQ(rivals["schema"], "rankwright.rivals/1");
  EXPECT_EQ(rivals["second"]["name"], other);
}

TEST(ExplainSensitivity, UnreadableSecondPlan_ExitsWithOne) {
  EXPECT_EQ(run_command({"explain", kPlan, "--sensitivity", "--against", "no/such.yaml"}).code, 1);
}

// Two published layouts.

TEST(ExplainGolden, Llama405B_MatchesGolden) {
  const std::string plan = "examples/llama-3.1-405b-16384.yaml";
  golden::expect("explain/llama-3.1-405b.md", run_command({"explain", plan, "--markdown"}).out);
  golden::expect("explain/llama-3.1-405b.json", run_command({"explain", plan, "--json"}).out);
}

TEST(ExplainGolden, DeepSeekV3_MatchesGolden) {
  const std::string plan = "examples/deepseek-v3-2048.yaml";
  golden::expect("explain/deepseek-v3.md", run_command({"explain", plan, "--markdown"}).out);
  golden::expect("explain/deepseek-v3.json", run_command({"explain", plan, "--json"}).out);
}

TEST(ExplainGolden, CoursePlan_MatchesGolden) {
  golden::expect("explain/course-64.txt", run_command({"explain", kPlan}).out);
}

}  // namespace explain_test
}  // namespace rankwright::cli
