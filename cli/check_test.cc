// `rankwright check` from its command line to its exit code.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "rankwright/rules/rule.h"
#include "tests/support/golden.h"
#include "tests/support/run_command.h"

namespace rankwright::cli {
namespace check_test {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kSound =
    "model: llama-3.2-1b\n"
    "cluster: dgx-h100 x 1\n"
    "job: {global_batch: 64, sequence: 4096}\n"
    "parallelism: {dp_size: 8, zero_stage: 1}\n";
const std::string kTooMany = "world_size: 64\nparallelism: {tp_size: 8, pp_size: 4, dp_size: 3}\n";

TEST(Check, ValidPlan_PrintsSummaryAndNoFindings) {
  const CommandResult said = render_check_text(kSound);
  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.out,
              StartsWith("8 = tp 1 x pp 1 x dp 8\n"
                         "tp 1 · pp 1 · dp 8 on nvlink · ZeRO-1 · microbatch 1 · no recompute\n"
                         "step "));
  EXPECT_THAT(said.out, HasSubstr(" of 79.1 GiB on pp rank 0\n\nnothing found\n"));
  EXPECT_EQ(said.err, "");
  EXPECT_EQ(render_check_text(kSound, {"--quiet"}).out, "nothing found\n");
}

TEST(Check, OnlyWarnings_ExitsWithZero) {
  const CommandResult said = run_command({"check", "examples/course-64.yaml"});
  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.out, HasSubstr("warning["));
  EXPECT_THAT(said.out, Not(HasSubstr("error[")));
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
  const CommandResult missing = run_command({"check", "no/such/plan.yaml"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_EQ(missing.out,
            "error[RW0910]: the file cannot be opened\n"
            "  --> no/such/plan.yaml\n"
            "  there is no such file\n"
            "\n"
            "1 error · rankwright explain RW0910\n");
  const CommandResult directory = run_command({"check", "examples"});
  EXPECT_EQ(directory.code, 1);
  EXPECT_THAT(directory.out, HasSubstr("  --> examples\n  it is a folder\n"));
}

std::string target_list() {
  std::string text;
  for (const rules::TargetRow& row : rules::targets())
    text += (text.empty() ? "" : ", ") + std::string(row.name);
  return text;
}

TEST(Check, UnknownTarget_SuggestsTheNearest) {
  const CommandResult said = render_check_text(kSound, {"--for", "megatrn"});
  EXPECT_EQ(said.code, 64);
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(said.err,
            "rankwright check: there is no target 'megatrn'\n  help: did you mean megatron?\n");
  EXPECT_EQ(render_check_text(kSound, {"--for", "x"}).err,
            "rankwright check: there is no target 'x'\n"
            "  help: --for takes " +
                target_list() + "\n");
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
  EXPECT_THAT(render_check_text(kSound, {"--cluster", "dgx-h100 x 2"}).out,
              HasSubstr("8 of 16 devices have no rank"));
}

TEST(Check, OutOfMemory_SuggestsThreeChangesThatFit) {
  const CommandResult said = render_check_text(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 1\nworld_size: 8\n"
      "job: {global_batch: 64, sequence: 4096}\nparallelism: {dp_size: 8, order: tp-dp-pp}\n");
  EXPECT_EQ(said.code, 2);
  std::vector<std::string> changes;
  std::istringstream lines(said.out);
  std::string help;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" GiB, step ") != std::string::npos) changes.push_back(line);
    if (line.starts_with("  help: ")) help = line.substr(8);
  }
  ASSERT_EQ(changes.size(), 3u) << said.out;
  EXPECT_THAT(changes.front(), StartsWith("  note: " + help + "   "));
}

TEST(Check, BadFlagValue_FindingPointsAtTheFlag) {
  const CommandResult model = render_check_text(kSound, {"--model", "llama-3.1-71b"});
  EXPECT_EQ(model.code, 1);
  EXPECT_THAT(model.out, StartsWith("error[RW0908]: "));
  EXPECT_THAT(model.out, HasSubstr("  --> --model\n"));
  EXPECT_THAT(model.out, HasSubstr("did you mean llama-3.1-70b"));
  const CommandResult cluster = render_check_text(kSound, {"--cluster", "dgx-h10 x 8"});
  EXPECT_EQ(cluster.code, 1);
  EXPECT_THAT(cluster.out, HasSubstr("  --> --cluster\n"));
  EXPECT_THAT(cluster.out, HasSubstr("did you mean dgx-h100"));
  EXPECT_EQ(render_check_text(kSound, {"--cluster", "dgx-h100 x 0"}).code, 1);
  EXPECT_EQ(render_check_text(kSound, {"--model", "no/such/config.json"}).code, 1);
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
CommandResult check_cells(const std::string& cells, std::vector<std::string> flags = {}) {
  const Scratch file("check-test-order.csv");
  std::ofstream(file.path()) << cells;
  flags.insert(flags.begin(), {"check", file.path()});
  return run_command(flags);
}

TEST(CheckSchedule, ValidSchedule_IsProvedDeadlockFree) {
  // 2 x 4 cells; two microbatches cross one boundary in both directions: 4 messages with 2 ends
  // each.
  const CommandResult said = check_cells("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.out,
            "2 pp ranks, 2 stages, 2 microbatches: 16 actions\n"
            "no rank waits for ever, with or without buffered sends; every send has its receive\n"
            "\n"
            "nothing found\n");
}

TEST(CheckSchedule, ScheduleWithCycle_NamesTheCycle) {
  const CommandResult said = check_cells("0F0,0F1,0B0,0B1\n1F0,1B1,1F1,1B0\n");
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.out, HasSubstr("error[RW0425]"));  // 1B1 before 1F1 on the same rank
  const CommandResult two = check_cells("0F0,0B1,0F1,0B0\n1F0,1B0,1F1,1B1\n");
  EXPECT_EQ(two.code, 2);
  EXPECT_THAT(two.out, HasSubstr("error[RW0422]: the pipeline waits for itself"));
  EXPECT_THAT(two.out, HasSubstr("pp rank 0 waits before 0B1"));
  EXPECT_THAT(two.out, HasSubstr("pp rank 1 waits before 1F1"));
}

TEST(CheckSchedule, InvalidSchedule_IsReportedInJsonAndSarif) {
  const std::string cycle = "0F0,0B1,0F1,0B0\n1F0,1B0,1F1,1B1\n";
  const json all = json::parse(check_cells(cycle, {"--json"}).out);
  EXPECT_EQ(all["findings"][0]["code"], "RW0422");
  EXPECT_EQ(all["findings"][0]["line"], 1);
  EXPECT_TRUE(json::accept(check_cells(cycle, {"--sarif"}).out));
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
    expect_sarif(json::parse(render_check_text(plan, {"--sarif"}).out));
  const CommandResult said = render_check_text(kTooMany, {"--sarif"});
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
  EXPECT_THAT(said.out, HasSubstr("cross infiniband at 50 GB/s"));
  golden::expect("acceptance/course-64-tp16.txt", said.out);
}

TEST(Acceptance, DegreesThatDoNotMultiply_ErrorPointsAtTheKey) {
  const CommandResult said = run_command({"check", "tests/data/plans/course-64-dp3.yaml"});
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.out, HasSubstr("course-64-dp3.yaml:7:12\n"));
  EXPECT_THAT(said.out, HasSubstr("help: dp_size: 2\n"));
  golden::expect("acceptance/course-64-dp3.txt", said.out);
}

}  // namespace check_test
}  // namespace rankwright::cli
