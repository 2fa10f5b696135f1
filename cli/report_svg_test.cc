// `rankwright report --svg`: the files that it writes, and its messages.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/report_output.h"
#include "rankwright/report/render/page_shell.h"
#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"
#include "tests/support/typed_configs.h"

namespace rankwright::cli {
namespace report_svg_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kTiny = "examples/gpt2-tiny-tp2-pp2-dp2.yaml";

std::set<std::string> files_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

TEST(ReportSvg, Folder_GetsEveryPicture) {
  const Scratch folder("pictures");
  const CommandResult said = run_command({"report", kTiny, "--svg", folder.path()});
  EXPECT_EQ(said.code, kOk);
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(said.err, folder.path() +
                          ": cluster.svg, step.svg, memory.svg, timeline.svg, communication.svg, "
                          "why-not.svg\n");
  EXPECT_THAT(files_in(folder.path()), ElementsAre("cluster.svg", "communication.svg", "memory.svg",
                                                   "step.svg", "timeline.svg", "why-not.svg"));
  for (const std::string& name : files_in(folder.path()))
    EXPECT_THAT(first_line(folder.path() + "/" + name), StartsWith("<svg ")) << name;
}

TEST(ReportSvg, PlanWithoutModel_HasPicturesOfTheAssumedOne) {
  const Scratch folder("pictures-without-model");
  const CommandResult said = run_command(
      {"report", "examples/course-64.yaml", "--svg", folder.path() + "/a/b", "--quiet"});
  EXPECT_EQ(said.code, kOk);
  EXPECT_EQ(said.err, "");
  EXPECT_THAT(
      files_in(folder.path() + "/a/b"),
      ElementsAre("cluster.svg", "communication.svg", "memory.svg", "step.svg", "timeline.svg"));
}

TEST(ReportSvg, OnlyPictures_NeedNoPage) {
  if (!report::kReportPage.empty()) GTEST_SKIP() << "built with the page";
  const Scratch folder("pictures-no-page"), page("pictures-no-page.html");
  const std::vector<std::string> args{"report", kTiny, "--no-search", "--svg", folder.path()};
  EXPECT_EQ(run_command(args).code, kOk);
  std::filesystem::remove_all(folder.path());
  std::vector<std::string> both = args;
  both.insert(both.end(), {"-o", page.path()});
  const CommandResult said = run_command(both);
  EXPECT_EQ(said.code, kUnreadable);
  golden::expect("cli/report-without-page.txt", said.err);
  EXPECT_FALSE(std::filesystem::exists(folder.path()));
}

TEST(ReportSvg, PageOrJson_AreWrittenAsWell) {
  const Scratch folder("pictures-and-page"), page("pictures-and-page.html");
  const CommandResult printed =
      run_command({"report", kTiny, "--no-search", "--json", "--svg", folder.path()});
  EXPECT_EQ(printed.code, kOk);
  EXPECT_EQ(nlohmann::json::parse(printed.out)["schema"], "rankwright.report/1");
  EXPECT_EQ(files_in(folder.path()).count("step.svg"), 1u);
  if (report::kReportPage.empty()) return;
  std::filesystem::remove_all(folder.path());
  EXPECT_EQ(
      run_command({"report", kTiny, "--no-search", "--svg", folder.path(), "-o", page.path()}).code,
      kOk);
  EXPECT_TRUE(std::filesystem::exists(page.path()));
  EXPECT_EQ(files_in(folder.path()).count("step.svg"), 1u);
}

TEST(ReportSvg, Markdown_LinksPicturesRelativeToItself) {
  const Scratch folder("document");
  const std::string pictures = folder.path() + "/docs/my pics", text = folder.path() + "/docs/d.md";
  std::filesystem::create_directories(folder.path() + "/docs");
  const std::vector<std::string> args{"report", kTiny,    "--no-search", "--markdown",
                                      "--svg",  pictures, "-o",          text};
  ASSERT_EQ(run_command(args).code, kOk);
  std::ifstream file(text);
  std::ostringstream all;
  all << file.rdbuf();
  EXPECT_THAT(all.str(), HasSubstr("![step](<my pics/step.svg>)"));
  const CommandResult printed =
      run_command({"report", kTiny, "--no-search", "--markdown", "--svg", pictures});
  EXPECT_THAT(printed.out, HasSubstr("![step](<" + pictures + "/step.svg>)"));
}

TEST(ReportSvg, FolderIsAFileOrInsideOne_IsAUsageErrorWithTheReason) {
  const Scratch file("a-file");
  std::ofstream(file.path()) << "kept";
  Transcript transcript;
  transcript.rename(file.path(), "a-file");
  for (const std::string& folder : {file.path(), file.path() + "/pictures"}) {
    const CommandResult said = transcript.run({"report", kTiny, "--no-search", "--svg", folder});
    EXPECT_EQ(said.code, kUsage);
  }
  transcript.expect("cli/report-svg-folder.txt");
  EXPECT_EQ(first_line(file.path()), "kept");
}

TEST(ReportSvg, TwoPlans_AreNamedAAndB) {
  const Scratch folder("pictures-of-two");
  report::Report report = new_report("compare", {});
  for (const char* plan :
       {"{world_size: 8, parallelism: {tp_size: 8}}", "{world_size: 8, parallelism: {dp_size: 8}}"})
    report.plans.push_back(planner::build_plan_report("plan.yaml", config_of(plan), {}));
  std::istringstream in;
  std::ostringstream out, err;
  const Options options(verb("report"));
  EXPECT_EQ(save_pictures(report, folder.path(), options, {in, out, err, false}), kOk);
  EXPECT_THAT(files_in(folder.path()),
              ElementsAre("cluster-a.svg", "cluster-b.svg", "communication-a.svg",
                          "communication-b.svg", "memory-a.svg", "memory-b.svg", "step-a.svg",
                          "step-b.svg", "timeline-a.svg", "timeline-b.svg"));
}

}  // namespace report_svg_test
}  // namespace rankwright::cli
