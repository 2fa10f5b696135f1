// Every figure that two verbs print is equal: step time, MFU of both conventions, tokens per second
// and the bubble, in text, JSON, Markdown and SVG.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "rankwright/base/format.h"
#include "rankwright/import/syntax/file.h"
#include "tests/support/run_command.h"

namespace rankwright::cli {
namespace figures_test {

using nlohmann::json;
using ::testing::StartsWith;

struct FigureCase {
  const char* name;
  const char* plan;
};

constexpr FigureCase kCases[] = {
    {"dense pipeline",
     "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 16, sequence: 8192}\n"
     "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, zero_stage: 1}\n"},
    {"interleaved",
     "model: llama-3.1-70b\ncluster: dgx-h100 x 8\njob: {global_batch: 128, sequence: 8192}\n"
     "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, virtual_stages: 5, zero_stage: 1}\n"},
    {"zero bubble",
     "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 16, sequence: 8192}\n"
     "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, schedule: zb-h1, zero_stage: 1}\n"},
    {"experts",
     "model: mixtral-8x7b\ncluster: dgx-h100 x 8\njob: {global_batch: 128, sequence: 4096}\n"
     "parallelism: {tp_size: 2, pp_size: 4, dp_size: 8, ep_size: 8, virtual_stages: 2,\n"
     "  zero_stage: 1}\n"},
    {"ZeRO-3 without a pipeline",
     "model: llama-3.1-70b\ncluster: dgx-h100 x 8\njob: {global_batch: 64, sequence: 8192}\n"
     "parallelism: {tp_size: 8, dp_size: 8, zero_stage: 3}\n"},
    {"fp8",
     "model: llama-3.1-8b\ncluster: dgx-h100 x 1\n"
     "job: {global_batch: 32, sequence: 4096, matmul: fp8}\n"
     "parallelism: {pp_size: 2, dp_size: 4, zero_stage: 1}\n"},
};

/// The figures of a plan, as `explain --json` gives them.
struct Figures {
  double step = 0, mfu = 0, palm = 0, tokens = 0, bubble = 0, ideal = 0, memory = 0;
};

/// Runs verbs on one plan.
class PlanRunner {
 public:
  explicit PlanRunner(const std::string& plan) : plan_(plan) {
    std::ofstream(path_.path()) << plan;
  }

  std::string text(std::vector<std::string> args) const { return run_command(args, plan_).out; }
  json document(std::vector<std::string> args) const {
    args.push_back("--json");
    return json::parse(text(args));
  }
  std::string path() const { return path_.path(); }

  Figures figures() const {
    const json all = document({"explain", "-"});
    const json& step = all["estimate"]["step"];
    return {.step = step["seconds"],
            .mfu = step["mfu"],
            .palm = step["mfu_palm_full"],
            .tokens = step["tokens_per_second_per_device"],
            .bubble = step["bubble_fraction"],
            .ideal = all["plan"]["ideal_bubble_fraction"],
            .memory = all["estimate"]["memory"]["total_bytes"]};
  }

 private:
  std::string plan_;
  // Parts of the program run side by side, so that each has a file of its own.
  Scratch path_{"figures-" + std::to_string(getpid()) + ".yaml"};
};

/// Returns what a group of a regular expression matches, at each of its matches.
std::vector<std::string> find_all(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> all;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    all.push_back((*at)[1]);
  return all;
}

/// Expects that the pattern matches, always with the same figure.
void expect_figure(const std::string& text, const std::string& pattern, const std::string& figure) {
  const std::vector<std::string> found = find_all(text, pattern);
  EXPECT_FALSE(found.empty()) << pattern << " in\n" << text;
  for (const std::string& one : found) EXPECT_EQ(one, figure) << pattern;
}

constexpr char kQuantity[] = "([0-9.,]+ [a-z]+)";
constexpr char kPercent[] = "([0-9.]+ %)";

class FiguresTest : public testing::TestWithParam<FigureCase> {
 protected:
  PlanRunner run_{GetParam().plan};
  Figures figures_ = run_.figures();
  std::string step_ = show(Seconds{figures_.step}), mfu_ = percent(figures_.mfu),
              palm_ = percent(figures_.palm), tokens_ = format_short_count(figures_.tokens);

  void expect_line(const std::string& text) const {
    expect_figure(text, fmt::format("step {} ±", kQuantity), step_);
    expect_figure(text, fmt::format("MFU {}", kPercent), mfu_);
    expect_figure(text, "([0-9.]+ ?[kM]?) tokens/s/GPU", tokens_);
  }
};

TEST_P(FiguresTest, LinesOfFiguresAreEqual) {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"check", "-"},
                                             {"explain", "-"},
                                             {"explain", "-", "--markdown"},
                                             {"explain", "-", "--sensitivity"},
                                             {"compare", "-", run_.path()},
                                             {"compare", "-", run_.path(), "--markdown"},
                                             {"report", "-", "--no-search", "--markdown"}}) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(args, " ")));
    expect_line(run_.text(args));
  }
}

TEST_P(FiguresTest, DocumentsAreEqual) {
  constexpr double kRounding = 1e-9;
  const auto expect_step = [&](const json& step) {
    EXPECT_NEAR(step.get<double>() / figures_.step, 1, kRounding);
  };
  const json compared = run_.document({"compare", "-", run_.path()});
  for (const char* side : {"a", "b"}) {
    expect_step(compared[side]["step_seconds"]);
    EXPECT_EQ(compared[side]["mfu"], figures_.mfu);
    EXPECT_EQ(compared[side]["memory"]["total_bytes"], figures_.memory);
  }
  expect_step(run_.document({"explain", "-", "--sensitivity"})["step_seconds"]);
  expect_step(run_.document({"explain", "-", "--timeline"})["step_seconds"]);
  expect_step(run_.document({"explain", "-", "--slow", "0:1.5x"})["slow_ranks"]["step_before"]);
  expect_step(
      run_.document({"explain", "-", "--slow-link", "nvlink:0.5x"})["slow_links"]["step_before"]);
  expect_step(run_.document({"explain", "-", "--fail", "0"})["dead_rank"]["step"]);
  const json report = run_.document({"report", "-", "--no-search"})["plans"][0];
  expect_step(report["explain"]["estimate"]["step"]["seconds"]);
  expect_step(report["timeline"]["summary"]["step_seconds"]);
  const json& shown = report["verdict"]["figures"];
  EXPECT_EQ(shown[0]["text"], step_);
  EXPECT_THAT(std::string(shown[1]["text"]), StartsWith(mfu_));
  EXPECT_THAT(std::string(shown[2]["text"]), StartsWith(palm_));
  EXPECT_EQ(shown[3]["text"], tokens_);
}

TEST_P(FiguresTest, PlanEvaluatesTheFileEqually) {
  const std::vector<std::string> args{"plan", "-",       "--for",         "any",    "--tp",
                                      "8",    "--no-cp", "--even-stages", "--zero", "1"};
  const json own = run_.document(args)["own"]["evaluated"];
  EXPECT_EQ(own["step_seconds"], figures_.step);
  EXPECT_EQ(own["mfu"]["megatron_causal"], figures_.mfu);
  EXPECT_EQ(own["mfu"]["palm_full"], figures_.palm);
  EXPECT_EQ(own["memory"]["total_bytes"], figures_.memory);
  expect_figure(run_.text(args), fmt::format("Your plan: {} ", kQuantity), step_);
}

TEST_P(FiguresTest, TimelineIsAsLongAsTheStep) {
  for (const char* form : {"--no-color", "--markdown"}) {
    const std::string text = run_.text({"explain", "-", "--timeline", form});
    expect_figure(text, fmt::format("· step {} ·", kQuantity), step_);
    expect_figure(text, fmt::format("\n  step +{}:", kQuantity), step_);
  }
  const std::string report = run_.text({"report", "-", "--no-search", "--markdown"});
  expect_figure(report, fmt::format("\n- step: {}:", kQuantity), step_);
  expect_figure(report, fmt::format("[Aa] step takes {} ±", kQuantity), step_);
  expect_figure(report, fmt::format("\n\\| step \\| {} \\|", kQuantity), step_);
  expect_figure(report, fmt::format("\n\\| MFU \\| {}", kPercent), mfu_);
  expect_figure(report, fmt::format("MFU, PaLM convention \\| {}", kPercent), palm_);
}

TEST_P(FiguresTest, PicturesAreEqual) {
  const Scratch folder("figures-svg");
  std::filesystem::create_directory(folder.path());
  run_.text({"report", "-", "--no-search", "--svg", folder.path()});
  const auto read = [&](const char* name) {
    return importer::read_file(folder.path() + "/" + name).value();
  };
  expect_line(read("step.svg"));
  expect_figure(read("timeline.svg"), fmt::format("· step {} ·", kQuantity), step_);
}

// The bubble is a share of the step; the bubble of equal stages is called ideal everywhere.
TEST_P(FiguresTest, OneBubble) {
  const std::string text = run_.text({"explain", "-"});
  if (figures_.bubble > 0)
    expect_figure(text, fmt::format("bubble\\s+is\\s+{}\\s+of\\s+the\\s+step", kPercent),
                  percent(figures_.bubble));
  if (figures_.ideal > 0)
    expect_figure(text, fmt::format("ideal bubble {}", kPercent), percent(figures_.ideal));
  const json items = run_.document({"explain", "-"})["estimate"]["step"]["items"];
  double share = 0;
  for (const json& item : items)
    if (item["item"] == "bubble") share = item["seconds"].get<double>() / figures_.step;
  EXPECT_NEAR(share, figures_.bubble, 1e-12);
  EXPECT_TRUE(find_all(run_.text({"explain", "-", "--timeline"}), "(bubble [0-9])").empty());
}

INSTANTIATE_TEST_SUITE_P(Figures, FiguresTest, testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<FigureCase>& one) {
                           std::string name(one.param.name);
                           std::erase_if(name, [](char c) { return !std::isalnum(int(c)); });
                           return name;
                         });

}  // namespace figures_test
}  // namespace rankwright::cli
