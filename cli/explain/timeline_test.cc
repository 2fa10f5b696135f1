// `rankwright explain --timeline` from its command line to its exit code.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "rankwright/base/integer.h"
#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace timeline_test {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kPlan = "examples/course-64.yaml";

/// Returns a plan with 4 pp ranks and this global batch.
std::string pipeline(const std::string& microbatches) {
  return "model: llama-3.2-1b\ncluster: dgx-h100 x 1\nparallelism: {pp_size: 4, dp_size: 2}\n"
         "job: {global_batch: " +
         microbatches + "}\n";
}

TEST(ExplainTimeline, Plan_DrawsEveryPpRank) {
  const CommandResult said = run_command({"explain", kPlan, "--timeline"});
  EXPECT_EQ(said.code, 0);
  golden::expect("timeline/course-64.txt", said.out);  // pp 0 to pp 3
  EXPECT_EQ(said.err, run_command({"explain", kPlan}).err);
}

TEST(ExplainTimeline, Terminal_UsesColor) {
  EXPECT_THAT(run_command({"explain", kPlan, "--timeline"}, "", true).out, HasSubstr("\033[48;5;"));
  EXPECT_THAT(run_command({"explain", kPlan, "--timeline", "--no-color"}, "", true).out,
              Not(HasSubstr("\033")));
}

TEST(ExplainTimeline, Svg_IsWrittenInAdditionToTheChart) {
  const Scratch file("timeline.svg");
  const CommandResult said = run_command({"explain", kPlan, "--svg", file.path()});
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.out, run_command({"explain", kPlan, "--timeline"}).out);
  EXPECT_THAT(golden::read(file.path()), StartsWith("<svg "));
}

TEST(ExplainTimeline, TraceExtension_SelectsTheFormat) {
  const Scratch perfetto("timeline.pftrace"), chrome("timeline.json");
  EXPECT_EQ(run_command({"explain", kPlan, "--trace", perfetto.path()}).code, 0);
  EXPECT_EQ(run_command({"explain", kPlan, "--trace", chrome.path()}).code, 0);
  EXPECT_EQ(golden::read(perfetto.path())[0], '\n');  // field 1, with a length
  // 4 ranks x 32 microbatches x F and B, plus the collectives of the step.
  int cells = 0, others = 0;
  const json all = json::parse(golden::read(chrome.path()));
  for (const json& event : all["traceEvents"])
    if (event["ph"] == "X")
      ++(event["cat"] == "forward" || event["cat"] == "backward" ? cells : others);
  EXPECT_EQ(cells, 256);
  EXPECT_GT(others, 0);
}

TEST(ExplainTimeline, Csv_PassesCheck) {
  const Scratch file("timeline.csv");
  EXPECT_EQ(run_command({"explain", kPlan, "--csv", file.path()}).code, 0);
  EXPECT_THAT(golden::read(file.path()), StartsWith("0F0,0F1,0F2,0F3,0B0,0F4,"));
  EXPECT_EQ(run_command({"check", file.path()}).code, 0);
  // It is drawn like the plan in unit times: (32 microbatches + 3) x (1 s + 2 s) = 105 s.
  Transcript transcript;
  transcript.rename(file.path(), "timeline.csv");
  EXPECT_EQ(transcript.run({"explain", file.path()}).code, 0);
  EXPECT_EQ(transcript.run({"explain", kPlan, "--unit-times"}).code, 0);
  transcript.expect("timeline/course-64-unit-times.txt");
}

TEST(ExplainTimeline, DeadlockingSchedule_IsRefused) {
  const Scratch file("hangs.csv");
  std::ofstream(file.path()) << "0F0,0B1,0F1,0B0\n1F0,1B0,1F1,1B1\n";
  const CommandResult said = run_command({"explain", file.path()});
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.err, HasSubstr("error[RW0422]"));
  std::ofstream(file.path()) << "0F0,nonsense\n";
  EXPECT_EQ(run_command({"explain", file.path()}).code, 1);
}

TEST(ExplainStages, UnevenLayers_ShowsTheMostBalancedSplit) {
  golden::expect("explain/deepseek-v3-stages.txt",
                 run_command({"explain", "examples/deepseek-v3-2048.yaml", "--stages"}).out);
  EXPECT_TRUE(json::accept(
      run_command({"explain", "examples/deepseek-v3-2048.yaml", "--stages", "--json"}).out));
  EXPECT_EQ(run_command({"explain", kPlan, "--stages", "--rank", "1"}).code, 64);
}

TEST(ExplainTimeline, JsonAndMarkdown_AreWritten) {
  const json all = json::parse(run_command({"explain", kPlan, "--timeline", "--json"}).out);
  EXPECT_EQ(all["schema"], "rankwright.timeline/1");
  EXPECT_EQ(all["ranks"].size(), 4u);
  // Markdown has no color, even on a terminal.
  golden::expect("timeline/course-64.md",
                 run_command({"explain", kPlan, "--timeline", "--markdown"}, "", true).out);
}

TEST(ExplainTimeline, UnwritableFile_ExitsWithOne) {
  Transcript transcript;
  for (const std::string flag : {"--svg", "--trace", "-o"}) {
    const CommandResult said =
        transcript.run({"explain", kPlan, "--timeline", flag, "no/such/folder/x.svg"});
    EXPECT_EQ(said.code, 1) << flag;
    EXPECT_EQ(said.out, "");
  }
  transcript.expect("timeline/unwritable-file.txt");
}

TEST(ExplainTimeline, WithRank_IsAUsageError) {
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"--timeline"}, {"--svg", "x.svg"}, {"--trace", "x.json"}}) {
    std::vector<std::string> args = {"explain", kPlan, "--rank", "3"};
    args.insert(args.end(), flags.begin(), flags.end());
    EXPECT_EQ(run_command(args).code, 64);
    EXPECT_EQ(run_command(args).out, "");
  }
}

TEST(ExplainTimeline, TooManyCells_IsRefused) {
  // dp 2: 134,217,728 microbatches x 4 stages x 2. With 1,000,000 cells, each of 4 stages gets
  // 125,000 microbatches, which is a multiple of 8; the batch is twice that.
  const CommandResult said = run_command({"explain", "-", "--timeline"}, pipeline("268435456"));
  EXPECT_EQ(said.code, 2);
  EXPECT_EQ(said.out, "");
  golden::expect("timeline/too-many-cells.txt", said.err);
}

TEST(ExplainTimeline, TooManyTraceCells_IsRefused) {
  const Scratch schedule("timeline-long.csv"), file("timeline-long.json");
  constexpr i64 kStages = 1000, kMicrobatches = 1001;
  {
    std::ofstream out(schedule.path());
    for (i64 m = 0; m < kMicrobatches; ++m) {
      for (i64 s = 0; s < kStages; ++s) out << s << 'F' << m << ',';
      for (i64 s = kStages; s-- > 0;) out << s << 'B' << m << ',';
    }
  }
  const CommandResult said = run_command({"explain", schedule.path(), "--trace", file.path()});
  EXPECT_EQ(said.code, 2);
  golden::expect("timeline/too-many-trace-cells.txt", said.err);  // 1,000 x 1,001 x F and B
  EXPECT_FALSE(std::filesystem::exists(file.path()));
}

TEST(ExplainSchedule, PlanFlags_AreRefused) {
  const Scratch file("order.csv");
  std::ofstream(file.path()) << "0F0,0B0\n";
  Transcript transcript;
  transcript.rename(file.path(), "order.csv");
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"--stages"}, {"--rank", "0"}, {"--model", "llama-3.2-1b"}}) {
    std::vector<std::string> args = {"explain", file.path()};
    args.insert(args.end(), flags.begin(), flags.end());
    const CommandResult said = transcript.run(args);
    EXPECT_EQ(said.code, 64);
    EXPECT_EQ(said.out, "");
  }
  transcript.expect("timeline/plan-flags-of-a-schedule.txt");
  EXPECT_EQ(run_command({"check", file.path(), "--for", "megatron"}).code, 64);
  EXPECT_EQ(run_command({"check", file.path(), "--cluster", "dgx-h100"}).code, 64);
}

TEST(ExplainTimeline, TooManyEventsInsideCells_IsRefused) {
  // 8,000 layers with 511 sends of a ring in F and twice that in B and I.
  const CommandResult said = run_command(
      {"explain", "-", "--timeline"},
      "model: {architecture: llama, layers: 8000, hidden: 4096, heads: 32, vocab: 32000, "
      "ffn: 11008}\ncluster: dgx-h100 x 128\nparallelism: {pp_size: 2, cp_size: 512}\n"
      "job: {global_batch: 4, sequence: 65536}\n");
  EXPECT_EQ(said.code, 2);
  EXPECT_EQ(said.out, "");
  golden::expect("timeline/too-many-events.txt", said.err);
}

}  // namespace timeline_test
}  // namespace rankwright::cli
