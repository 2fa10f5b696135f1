// `rankwright report`, and the HTML pages of plan and compare.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "rankwright/report/render/page_shell.h"
#include "tests/support/run_command.h"

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
  EXPECT_TRUE(plan["memory"].is_null());
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
  for (const json& point : plan["why_not"]["points"]) {
    if (point["role"] == "this") continue;
    EXPECT_EQ(std::string(point["brief"]).find("zb-v"), std::string::npos) << point["brief"];
  }
  const CommandResult unknown = run_command({"report", kTiny, "--for", "megatrn"});
  EXPECT_EQ(unknown.code, kUsage);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean megatron?"));
}

TEST(Report, MeasuredTrace_IsDrawnNextToThePrediction) {
  const Scratch trace("measured.json");
  ASSERT_EQ(run_command({"explain", kTiny, "--timeline", "--trace", trace.path()}).code, kOk);
  const json plan = json::parse(
      run_command({"report", kTiny, "--no-search", "--measured", trace.path(), "--json"})
          .out)["plans"][0];
  // A simulated step passed as a measured one equals the prediction.
  const json& measured = plan["measured"];
  EXPECT_THAT(std::string(measured["words"]), HasSubstr("the run took 1.00 of that"));
  ASSERT_EQ(measured["rows"].size(), plan["timeline"]["rows"].size());
  for (std::size_t r = 0; r < measured["rows"].size(); ++r)
    EXPECT_EQ(measured["rows"][r]["events"].size(), plan["timeline"]["rows"][r]["events"].size());
  EXPECT_THAT(
      run_command({"report", kTiny, "--no-search", "--measured", trace.path(), "--markdown"}).out,
      HasSubstr(std::string(measured["words"])));
  const CommandResult other =
      run_command({"report", kCourse, "--measured", trace.path(), "--json"});
  EXPECT_EQ(other.code, kRefused);
  EXPECT_THAT(other.err, HasSubstr("is of another plan: it has 2 pp ranks, the plan 4"));
  const CommandResult none = run_command({"report", kTiny, "--measured", "nowhere.json", "--json"});
  EXPECT_EQ(none.code, kUnreadable);
}

TEST(Report, Markdown_HasSummaryTablesAndPlan) {
  const CommandResult said = run_command({"report", kTiny, "--no-search", "--markdown"});
  EXPECT_EQ(said.code, kOk);
  EXPECT_THAT(said.out, StartsWith("# "));
  for (const std::string part :
       {"It fits with margin: ", "## Step", "## Memory", "## Communication", "## Pipeline",
        "```yaml", "rankwright export "})
    EXPECT_THAT(said.out, HasSubstr(part));
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

TEST(Report, UnwritableOutput_FailsBeforeTheSearch) {
  const CommandResult said =
      run_command({"report", kTiny, "--json", "-o", "/no/such/folder/x.json"});
  EXPECT_EQ(said.code, kUnreadable);
  EXPECT_THAT(said.err, HasSubstr("help: mkdir -p /no/such/folder\n"));
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
    EXPECT_THAT(said.err, HasSubstr("Node.js"));
    EXPECT_THAT(said.err, HasSubstr("help: "));
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

TEST(ReportPage, GpuCountsOrLog_AreRefused) {
  const CommandResult counts = run_command({"plan", "--model", "llama-3.1-8b", "--cluster",
                                            "dgx-h100", "--gpus", "8..64", "--html", "x.html"});
  EXPECT_EQ(counts.code, kUsage);
  EXPECT_THAT(counts.err, HasSubstr("--html draws one plan"));
  const CommandResult log =
      run_command({"compare", kCourse, "--log", "run.log", "--html", "x.html"});
  EXPECT_EQ(log.code, kUsage);
}

}  // namespace report_test
}  // namespace rankwright::cli
