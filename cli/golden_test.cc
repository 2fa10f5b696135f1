// The text of every diagnostic: each rule's example, and a faulty file per reading code, compared
// with tests/golden/check/CODE.txt. Review a diff as a user would read it.
#include "tests/support/golden.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "cli/plan_input.h"
#include "rankwright/report/explain/findings.h"
#include "rankwright/rules/proof_findings.h"
#include "rankwright/rules/rule.h"
#include "tests/support/run_command.h"

namespace rankwright::cli {
namespace golden_test {

namespace fs = std::filesystem;

/// Returns the output of `check plan.yaml --for TARGET` below its summary.
std::string checked(std::string_view plan, rules::Target target) {
  planner::PlanInput input{
      .file = importer::read_plan(std::string(plan), "plan.yaml", importer::read_file)};
  input.config = resolve(input.file.draft);
  return report::render_findings_text(list_findings(input, target), input.file.name,
                                      input.file.text, {});
}

std::string code_text(const rules::Page& page) {
  return std::string(name(page.severity)) + "[" + std::string(page.code) + "]: ";
}

TEST(Golden, RuleExamples_MatchGolden) {
  ASSERT_FALSE(rules::rules().empty());
  for (const rules::Rule* rule : rules::rules()) {
    const std::string text = checked(rule->page.example, rule->target);
    EXPECT_THAT(text, ::testing::HasSubstr(code_text(rule->page)));
    golden::expect("check/" + std::string(rule->page.code) + ".txt", text);
  }
}

TEST(Golden, Counterexamples_MatchGolden) {
  int examples = 0;
  for (const rules::Page& page : rules::proof_pages()) {
    if (page.example.empty()) continue;
    ++examples;
    const std::string example(page.example);
    const Result<program::WrittenSchedule> written = program::parse_cells(example, "order.csv");
    ASSERT_TRUE(written.has_value()) << page.code;
    const Diagnostics findings = rules::check_schedule(*written).findings;
    const std::string text = report::render_findings_text(findings, "order.csv", example, {});
    EXPECT_THAT(text, ::testing::HasSubstr(code_text(page)));
    golden::expect("check/" + std::string(page.code) + ".txt", text);
  }
  EXPECT_GT(examples, 0);
}

constexpr char kPlan[] = "examples/course-64.yaml";

/// Returns the faulty files by code: plans, a config.json for --model, a cluster file, a schedule,
/// a table of runs, logs of runs, a trace, answers of a lab.
std::map<std::string, std::string> fault_files() {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(RANKWRIGHT_SOURCE_DIR "/tests/data/faults"))
    files[entry.path().stem().string()] = "tests/data/faults/" + entry.path().filename().string();
  return files;
}

TEST(Golden, ReadingErrors_MatchGolden) {
  const std::map<std::string, std::string> files = fault_files();
  ASSERT_FALSE(rules::reading_pages().empty());
  for (const rules::Page& page : rules::reading_pages()) {
    const std::string code(page.code);
    ASSERT_TRUE(files.contains(code))
        << "write tests/data/faults/" << code << ".yaml, .json or .csv";
    const std::string& file = files.at(code);
    const CommandResult said =
        code == "RW0932"          ? run_command({"report", kPlan, "--measured", file, "--json"})
        : code == "RW0933"        ? run_command({"lab", "3", "--check", file})
        : file.ends_with(".json") ? run_command({"check", kPlan, "--model", file})
        : code == "RW0917"        ? run_command({"validate", file})
        : code == "RW0930"        ? run_command({"compare", kPlan, "--log", file})
        : code == "RW0931"        ? run_command({"check", kPlan, "--calibrate", file})
                                  : run_command({"check", file, "--quiet"});
    EXPECT_EQ(said.code, page.severity == Severity::error ? 1 : 0) << code;
    const std::string text = said.out.empty() ? said.err : said.out;
    EXPECT_THAT(text, ::testing::HasSubstr("[" + code + "]: "));
    golden::expect("check/" + code + ".txt", text);
  }
}

TEST(Golden, GoldenFiles_AllBelongToACode) {
  std::set<std::string> known;
  for (const rules::Page* page : rules::pages()) known.insert(std::string(page->code) + ".txt");
  int goldens = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(golden::path("check"))) {
    EXPECT_TRUE(known.contains(entry.path().filename().string())) << entry.path();
    ++goldens;
  }
  EXPECT_GT(goldens, 0);
  const std::map<std::string, std::string> faults = fault_files();
  ASSERT_FALSE(faults.empty());
  for (const auto& [code, file] : faults) EXPECT_NE(rules::find_page(code), nullptr) << file;
}

}  // namespace golden_test
}  // namespace rankwright::cli
