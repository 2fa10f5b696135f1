// `rankwright check` from its command line to its exit code.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "rankwright/rules/rule.h"
#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace check_test {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kSound =
    "model: llama-3.2-1b\n"
    "cluster: dgx-h100 x 1\n"
    "job: {global_batch: 64, sequence: 4096}\n"
    "parallelism: {dp_size: 8, zero_stage: 1}\n";
const std::string kTooMany = "world_size: 64\nparallelism: {tp_size: 8, pp_size: 4, dp_size: 3}\n";

TEST(Check, ValidPlan_PrintsSummaryAndNoFindings) {
  Transcript transcript;
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"check", "-"}, {"check", "-", "--quiet"}}) {
    const CommandResult said = transcript.run(args, kSound);
    EXPECT_EQ(said.code, 0);
    EXPECT_EQ(said.err, "");
  }
  transcript.expect("cli/check-valid.txt");
}

TEST(Check, OnlyWarnings_ExitsWithZero) {
  const CommandResult said = run_command({"check", "examples/course-64.yaml", "--json"});
  EXPECT_EQ(said.code, 0);
  const json all = json::parse(said.out);
  EXPECT_GT(all["warnings"], 0);
  EXPECT_EQ(all["errors"], 0);
}

TEST(Check, LintError_ExitsWithTwoAndNoSummary) {
  const CommandResult said = render_check_text(kTooMany);
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.out, StartsWith("error[RW0102]"));
}

TEST(Check, UnreadablePlan_ExitsWithOne) {
  EXPECT_EQ(render_check_text("parallelism: [").code, 1);
  EXPECT_EQ(render_check_text("parallelism: {tp_size: eight}\n").code, 1);
  EXPECT_EQ(render_check_text("").code, 1);
}

TEST(Check, MissingFileOrDirectory_IsReported) {
  Transcript transcript;
  EXPECT_EQ(transcript.run({"check", "no/such/plan.yaml"}).code, 1);
  EXPECT_EQ(transcript.run({"check", "examples"}).code, 1);
  transcript.expect("cli/check-unopened.txt");
}

TEST(Check, UnknownTarget_SuggestsTheNearestOrListsAll) {
  Transcript transcript;
  const CommandResult near = transcript.run({"check", "-", "--for", "megatrn"});
  EXPECT_EQ(near.code, 64);
  EXPECT_EQ(near.out, "");
  const CommandResult far = transcript.run({"check", "-", "--for", "x"});
  for (const rules::TargetRow& row : rules::targets())
    EXPECT_THAT(far.err, HasSubstr(std::string(row.name)));
  transcript.expect("cli/check-unknown-target.txt");
}

TEST(Check, TargetRules_ApplyOnlyWithFor) {
  EXPECT_EQ(render_check_text(kSound, {"--for", "torchtitan"}).code,
            2);  // torchtitan has no ZeRO-1
  EXPECT_THAT(render_check_text(kSound, {"--for", "torchtitan"}).out, HasSubstr("error[RW0529]"));
  EXPECT_EQ(render_check_text(kSound, {"--for", "deepspeed"}).code, 0);
}

TEST(Check, ModelAndClusterFlags_ReplaceThoseOfThePlan) {
  // 70.6 B with ZeRO-1 over 8: (2 + 2 + 12 / 8) bytes per parameter are 388 GB; an H100 has 80.
  const CommandResult large = render_check_text(kSound, {"--model", "llama-3.1-70b"});
  EXPECT_EQ(large.code, 2);
  EXPECT_THAT(large.out, HasSubstr("error[RW0201]"));
  // dp 8 on two nodes of 8: half of the 16 devices have no rank.
  Transcript transcript;
  EXPECT_EQ(transcript.run({"check", "-", "--cluster", "dgx-h100 x 2"}, kSound).code, 0);
  transcript.expect("cli/check-cluster-flag.txt");
}

TEST(Check, OutOfMemory_SuggestsThreeChangesThatFit) {
  const std::string plan =
      "model: llama-3.1-8b\ncluster: dgx-h100 x 1\nworld_size: 8\n"
      "job: {global_batch: 64, sequence: 4096}\nparallelism: {dp_size: 8, order: tp-dp-pp}\n";
  Transcript transcript;
  EXPECT_EQ(transcript.run({"check", "-"}, plan).code, 2);
  transcript.expect("cli/check-out-of-memory.txt");
  // The notes are the largest entries, then three changes; the help is the first of them.
  const json finding = json::parse(render_check_text(plan, {"--json"}).out)["findings"][0];
  ASSERT_EQ(finding["notes"].size(), 4u);
  EXPECT_THAT(finding["notes"][1].get<std::string>(),
              StartsWith(finding["help"].get<std::string>() + "   "));
}

TEST(Check, BadFlagValue_FindingPointsAtTheFlag) {
  Transcript transcript;
  for (const std::vector<std::string>& flag : {std::vector<std::string>{"--model", "llama-3.1-71b"},
                                               {"--cluster", "dgx-h10 x 8"},
                                               {"--cluster", "dgx-h100 x 0"},
                                               {"--model", "no/such/config.json"}}) {
    const CommandResult said =
        transcript.run({"check", "examples/course-64.yaml", flag[0], flag[1]});
    EXPECT_EQ(said.code, 1) << flag[1];
  }
  transcript.expect("cli/check-bad-flags.txt");
}

TEST(Check, BadClusterFile_FindingPointsAtTheLine) {
  const Scratch file("check-test-cluster.yaml");
  std::ofstream(file.path()) << "device: h100-sxm\nlevels:\n"
                                "  - {name: nvlink, arity: 8, bandwidth: 450}\n";
  const CommandResult said = render_check_text(kSound, {"--cluster", file.path()});
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("error[RW0909]"));
  EXPECT_THAT(said.out, HasSubstr(file.path() + ":3:"));
}

/// Runs `check` on a schedule file with this text.
CommandResult check_cells(const std::string& cells, std::vector<std::string> flags = {},
                          Transcript* transcript = nullptr) {
  const Scratch file("check-test-order.csv");
  std::ofstream(file.path()) << cells;
  flags.insert(flags.begin(), {"check", file.path()});
  if (transcript == nullptr) return run_command(flags);
  transcript->rename(file.path(), "order.csv");
  return transcript->run(flags);
}

TEST(CheckSchedule, ValidSchedule_IsProvedDeadlockFree) {
  // 2 x 4 cells; two microbatches cross one boundary in both directions: 4 messages with 2 ends
  // each.
  Transcript transcript;
  EXPECT_EQ(check_cells("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n", {}, &transcript).code, 0);
  transcript.expect("cli/check-schedule-valid.txt");
}

TEST(CheckSchedule, ScheduleWithCycle_NamesTheCycle) {
  const CommandResult said = check_cells("0F0,0F1,0B0,0B1\n1F0,1B1,1F1,1B0\n");
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.out, HasSubstr("error[RW0425]"));  // 1B1 before 1F1 on the same rank
  // pp rank 0 waits before 0B1 for pp rank 1, and that before 1F1 for pp rank 0.
  Transcript transcript;
  EXPECT_EQ(check_cells("0F0,0B1,0F1,0B0\n1F0,1B0,1F1,1B1\n", {}, &transcript).code, 2);
  transcript.expect("cli/check-schedule-cycle.txt");
}

TEST(CheckSchedule, InvalidSchedule_IsReportedInJsonAndSarif) {
  const std::string cycle = "0F0,0B1,0F1,0B0\n1F0,1B0,1F1,1B1\n";
  const json all = json::parse(check_cells(cycle, {"--json"}).out);
  EXPECT_EQ(all["findings"][0]["code"], "RW0422");
  EXPECT_EQ(all["findings"][0]["line"], 1);
  EXPECT_TRUE(json::accept(check_cells(cycle, {"--format", "sarif"}).out));
}

TEST(CheckSchedule, UnreadableSchedule_ExitsWithOne) {
  EXPECT_EQ(check_cells("0F0,?\n").code, 1);
  EXPECT_EQ(check_cells("").code, 1);
  EXPECT_EQ(run_command({"check", "no/such/order.csv"}).code, 1);
}

TEST(CheckJson, InvalidPlan_MatchesTheText) {
  const CommandResult text = render_check_text(kTooMany);
  const CommandResult said = render_check_text(kTooMany, {"--json"});
  EXPECT_EQ(said.code, 2);
  const json all = json::parse(said.out);
  EXPECT_EQ(all["schema"], "rankwright.check/1");
  EXPECT_EQ(all["file"], "-");
  EXPECT_EQ(all["errors"], 1);
  EXPECT_EQ(all["findings"].size(),
            std::size_t(all["errors"]) + std::size_t(all["warnings"]) + std::size_t(all["notes"]));
  for (const json& finding : all["findings"]) {
    EXPECT_THAT(text.out, HasSubstr(finding["message"].get<std::string>()));
    EXPECT_THAT(text.out, HasSubstr(finding["detail"].get<std::string>()));
    EXPECT_THAT(text.out, HasSubstr("help: " + finding["help"].get<std::string>()));
  }
  const json& first = all["findings"][0];
  EXPECT_EQ(first["code"], "RW0102");
  EXPECT_EQ(first["severity"], "error");
  EXPECT_EQ(first["key"], "parallelism.dp_size");
  EXPECT_EQ(first["line"], 2);
  EXPECT_EQ(first["column"], 48);
  EXPECT_EQ(first["fix"], (json{{{"key", "parallelism.dp_size"}, {"value", "2"}}}));
}

TEST(CheckJson, ValidPlan_HasNoFindings) {
  const json all = json::parse(render_check_text(kSound, {"--json"}).out);
  EXPECT_EQ(all["errors"], 0);
  EXPECT_TRUE(all["findings"].empty());
}

TEST(CheckJson, InvalidUtf8_IsStillValidJson) {
  const CommandResult said =
      render_check_text("\xff\xfe: 1\nparallelism: {dp_size: 8}\n", {"--json"});
  EXPECT_TRUE(json::accept(said.out)) << said.out;
}

/// Checks what the SARIF 2.1.0 schema requires of the output.
void expect_sarif(const json& log) {
  EXPECT_EQ(log["version"], "2.1.0");
  ASSERT_EQ(log["runs"].size(), 1u);
  const json& driver = log["runs"][0]["tool"]["driver"];
  EXPECT_EQ(driver["name"], "rankwright");
  std::set<std::string> rules;
  for (const json& rule : driver["rules"]) {
    EXPECT_TRUE(rules.insert(rule["id"]).second);
    EXPECT_TRUE(rule["shortDescription"]["text"].is_string());
    EXPECT_TRUE(rule["fullDescription"]["text"].is_string());
  }
  ASSERT_TRUE(log["runs"][0]["results"].is_array());
  for (const json& result : log["runs"][0]["results"]) {
    EXPECT_TRUE(rules.contains(result["ruleId"]));
    EXPECT_TRUE(result["level"] == "error" || result["level"] == "warning" ||
                result["level"] == "note");
    EXPECT_FALSE(result["message"]["text"].get<std::string>().empty());
    ASSERT_EQ(result["locations"].size(), 1u);
    const json& place = result["locations"][0]["physicalLocation"];
    EXPECT_FALSE(place["artifactLocation"]["uri"].get<std::string>().empty());
    if (!place.contains("region")) continue;
    EXPECT_GE(place["region"]["startLine"], 1);
    EXPECT_GE(place["region"]["startColumn"], 1);
    EXPECT_GT(place["region"]["endColumn"], place["region"]["startColumn"]);
  }
}

TEST(CheckSarif, AnyPlan_MatchesTheSarifSchema) {
  for (const std::string& plan : {kSound, kTooMany, std::string("parallelism: [")})
    expect_sarif(json::parse(render_check_text(plan, {"--format", "sarif"}).out));
  const CommandResult said = render_check_text(kTooMany, {"--format", "sarif"});
  EXPECT_EQ(said.code, 2);
  const json first = json::parse(said.out)["runs"][0]["results"][0];
  EXPECT_EQ(first["ruleId"], "RW0102");
  EXPECT_EQ(first["locations"][0]["physicalLocation"]["region"],
            (json{{"startLine", 2}, {"startColumn", 48}, {"endColumn", 49}}));
}

// The three plans that a reader of the course tries first.

TEST(Acceptance, CoursePlan_MatchesGolden) {
  const CommandResult said = run_command({"check", "examples/course-64.yaml"});
  EXPECT_EQ(said.code, 0);
  golden::expect("acceptance/course-64.txt", said.out);
}

TEST(Acceptance, TensorParallelismAcrossNodes_NamesTheLinkAndItsCost) {
  const CommandResult said = run_command({"check", "tests/data/plans/course-64-tp16.yaml"});
  EXPECT_EQ(said.code, 0);
  golden::expect("acceptance/course-64-tp16.txt", said.out);
}

TEST(Acceptance, DegreesThatDoNotMultiply_ErrorPointsAtTheKey) {
  const CommandResult said = run_command({"check", "tests/data/plans/course-64-dp3.yaml"});
  EXPECT_EQ(said.code, 2);
  // dp_size is on line 7; 64 / (tp 8 x pp 4) = 2 is the value that fits.
  golden::expect("acceptance/course-64-dp3.txt", said.out);
}

}  // namespace check_test
}  // namespace rankwright::cli
