// `rankwright report`, and the HTML pages of plan and compare.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "rankwright/report/render/page_shell.h"
#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace report_test {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kCourse = "examples/course-64.yaml";
const std::string kChunks = "examples/course-64-chunks.yaml";
const std::string kTiny = "examples/gpt2-tiny-tp2-pp2-dp2.yaml";

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Returns the JSON document inside a page.
json document_of(const std::string& page) {
  const std::string opening = "id=\"document\">";
  const std::size_t begin = page.find(opening) + opening.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST(Report, Json_EqualsExplain) {
  const json report = json::parse(run_command({"report", kTiny, "--json"}).out);
  const json explained = json::parse(run_command({"explain", kTiny, "--json"}).out);
  EXPECT_EQ(report["plans"][0]["explain"], explained);
  EXPECT_EQ(report["command"], "rankwright report " + kTiny + " --json");
}

TEST(Report, Estimates_EqualThoseOfPlan) {
  const json report = json::parse(run_command({"report", kTiny, "--json"}).out);
  const json plan = json::parse(run_command({"plan", kTiny, "--json"}).out);
  const json& points = report["plans"][0]["why_not"]["points"];
  EXPECT_EQ(points[0]["role"], "this");
  EXPECT_EQ(points[0]["step_seconds"], plan["own"]["evaluated"]["step_seconds"]);
  EXPECT_EQ(points[0]["memory_bytes"], plan["own"]["evaluated"]["memory"]["total_bytes"]);
  EXPECT_EQ(points[1]["role"], "best");
  EXPECT_EQ(points[1]["step_seconds"], plan["best"]["step_seconds"]);
}

TEST(Report, PlanWithoutModel_SaysWhatToType) {
  const json plan = json::parse(run_command({"report", kCourse, "--json"}).out)["plans"][0];
  EXPECT_TRUE(plan["why_not"].is_null());
  EXPECT_FALSE(plan["memory"].is_null());  // of the assumed model
  EXPECT_THAT(std::string(plan["why_not_missing"]), HasSubstr("--model"));
}

TEST(Report, NoSearch_HasNoAlternatives) {
  const json plan =
      json::parse(run_command({"report", kTiny, "--no-search", "--json"}).out)["plans"][0];
  EXPECT_TRUE(plan["why_not"].is_null());
  EXPECT_FALSE(plan["memory"].is_null());
}

TEST(Report, Target_ListsOnlyPlansItRuns) {
  const json plan =
      json::parse(run_command({"report", kTiny, "--for", "megatron", "--json"}).out)["plans"][0];
  int others = 0;
  for (const json& point : plan["why_not"]["points"]) {
    if (point["role"] == "this") continue;
    ++others;
    EXPECT_EQ(std::string(point["brief"]).find("zb-v"), std::string::npos) << point["brief"];
  }
  EXPECT_GT(others, 0);
}

TEST(Report, MeasuredTrace_IsDrawnNextToThePrediction) {
  const Scratch trace("measured.json");
  ASSERT_EQ(run_command({"explain", kTiny, "--timeline", "--trace", trace.path()}).code, kOk);
  const std::vector<std::string> args{"report",     kTiny,        "--no-search",
                                      "--measured", trace.path(), "--json"};
  const json plan = json::parse(run_command(args).out)["plans"][0];
  // A simulated step passed as a measured one equals the prediction: the run took 1.00 of it.
  const json& measured = plan["measured"];
  const std::string words = measured["words"];
  ASSERT_FALSE(measured["rows"].empty());
  ASSERT_EQ(measured["rows"].size(), plan["timeline"]["rows"].size());
  for (std::size_t r = 0; r < measured["rows"].size(); ++r)
    EXPECT_EQ(measured["rows"][r]["events"].size(), plan["timeline"]["rows"][r]["events"].size());
  EXPECT_THAT(
      run_command({"report", kTiny, "--no-search", "--measured", trace.path(), "--markdown"}).out,
      HasSubstr(words));
  Transcript transcript;
  transcript.rename(trace.path(), "measured.json");
  transcript.add_output(args, words + "\n");
  // The trace has 2 pp ranks, this plan 4.
  EXPECT_EQ(transcript.run({"report", kCourse, "--measured", trace.path(), "--json"}).code,
            kRefused);
  transcript.expect("cli/report-measured.txt");
  EXPECT_EQ(run_command({"report", kTiny, "--measured", "nowhere.json", "--json"}).code,
            kUnreadable);
}

/// Returns the lines before the first section without tables, then headings, lists and fences.
std::string outline(const std::string& markdown) {
  std::string lines;
  bool summary = true;
  for (const std::string& line : golden::lines(markdown)) {
    summary = summary && !line.starts_with("## ");
    if (line.starts_with("|") || line.empty()) continue;
    if (summary || line.starts_with("#") || line.starts_with("- ") || line.starts_with("```"))
      lines += line + "\n";
  }
  return lines;
}

TEST(Report, Markdown_HasSummaryTablesAndPlan) {
  const CommandResult said = run_command({"report", kTiny, "--no-search", "--markdown"});
  EXPECT_EQ(said.code, kOk);
  golden::expect("cli/report-outline.md", outline(said.out));
}

TEST(Report, OutputDash_PrintsTheDocument) {
  const CommandResult said = run_command({"report", kTiny, "--no-search", "--json", "-o", "-"});
  EXPECT_EQ(said.code, kOk);
  EXPECT_EQ(json::parse(said.out)["schema"], "rankwright.report/1");
  EXPECT_FALSE(std::filesystem::exists("-"));
}

TEST(Report, OutputExtension_SelectsTheFormat) {
  const Scratch markdown("report-test.md"), document("report-test.json");
  ASSERT_EQ(run_command({"report", kTiny, "--no-search", "-o", markdown.path()}).code, kOk);
  EXPECT_THAT(text_of(markdown.path()), StartsWith("# "));
  ASSERT_EQ(run_command({"report", kTiny, "--no-search", "-o", document.path()}).code, kOk);
  EXPECT_EQ(json::parse(text_of(document.path()))["schema"], "rankwright.report/1");
  // A flag overrides the extension.
  ASSERT_EQ(run_command({"report", kTiny, "--no-search", "--json", "-o", markdown.path()}).code,
            kOk);
  EXPECT_EQ(json::parse(text_of(markdown.path()))["schema"], "rankwright.report/1");
}

TEST(Report, UnreadableOrInvalidPlan_IsRefused) {
  const CommandResult missing = run_command({"report", "nowhere.yaml", "--json"});
  EXPECT_EQ(missing.code, kUnreadable);
  EXPECT_THAT(missing.err, HasSubstr("nowhere.yaml"));
  const CommandResult wrong = run_command(
      {"report", "-", "--json"}, "{world_size: 64, parallelism: {tp_size: 8, dp_size: 3}}");
  EXPECT_EQ(wrong.code, kRefused);
  EXPECT_THAT(wrong.err, HasSubstr("RW0102"));
  EXPECT_TRUE(wrong.out.empty());
}

TEST(ReportPage, BuiltWithoutNode_SaysWhatIsMissing) {
  if (!report::kReportPage.empty()) GTEST_SKIP() << "built with the page";
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"report", kTiny, "-o", "never.html"},
        {"plan", kTiny, "--html", "never.html"},
        {"compare", kCourse, kChunks, "--html", "never.html"}}) {
    const CommandResult said = run_command(args);
    EXPECT_EQ(said.code, kUnreadable);
    golden::expect("cli/" + args[0] + "-without-page.txt", said.err);
    EXPECT_FALSE(std::filesystem::exists("never.html"));
  }
}

TEST(ReportPage, Page_ContainsTheJsonDocument) {
  if (report::kReportPage.empty()) GTEST_SKIP() << "built without the page";
  const Scratch page("report.html");
  const CommandResult said = run_command({"report", kTiny, "--no-search", "-o", page.path()});
  EXPECT_EQ(said.code, kOk);
  EXPECT_TRUE(said.out.empty());
  EXPECT_THAT(said.err, HasSubstr(page.path()));
  const json document = document_of(text_of(page.path()));
  const json printed = json::parse(run_command({"report", kTiny, "--no-search", "--json"}).out);
  EXPECT_EQ(document["plans"], printed["plans"]);
  EXPECT_LT(text_of(page.path()).size(), 1'500'000u);
}

TEST(ReportPage, PlanAndCompare_WriteTheirPlans) {
  if (report::kReportPage.empty()) GTEST_SKIP() << "built without the page";
  const Scratch one("plan.html"), two("compare.html");
  const CommandResult planned = run_command({"plan", kTiny, "--html", one.path(), "--json"});
  EXPECT_EQ(planned.code, kOk);
  const json best = document_of(text_of(one.path()))["plans"][0];
  EXPECT_EQ(best["why_not"]["points"][0]["step_seconds"],
            json::parse(planned.out)["best"]["step_seconds"]);
  const CommandResult compared =
      run_command({"compare", kCourse, kChunks, "--html", two.path(), "--json"});
  EXPECT_EQ(compared.code, kOk);
  const json both = document_of(text_of(two.path()));
  EXPECT_EQ(both["plans"].size(), 2u);
  EXPECT_EQ(both["compare"], json::parse(compared.out));
}

TEST(Report, InvalidArguments_AreRefusedBeforeTheSearch) {
  Transcript transcript;
  EXPECT_EQ(transcript.run({"report", kTiny, "--for", "megatrn"}).code, kUsage);
  EXPECT_EQ(transcript.run({"report", kTiny, "--json", "-o", "/no/such/folder/x.json"}).code,
            kUnreadable);
  // A page shows one plan, or two of compare.
  EXPECT_EQ(transcript
                .run({"plan", "--model", "llama-3.1-8b", "--cluster", "dgx-h100", "--gpus", "8..64",
                      "--html", "x.html"})
                .code,
            kUsage);
  EXPECT_EQ(transcript.run({"compare", kCourse, "--log", "run.log", "--html", "x.html"}).code,
            kUsage);
  transcript.expect("cli/report-usage.txt");
}

}  // namespace report_test
}  // namespace rankwright::cli
