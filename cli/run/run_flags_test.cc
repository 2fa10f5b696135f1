// The checks before a run, its output, and the detection of its environment.
#include "cli/run/run_flags.h"

#include <gmock/gmock.h>

#include <sstream>

#include "cli/io/screen.h"
#include "cli/run/engine_env.h"
#include "cli/run/run_output.h"
#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"
#include "tests/support/typed_configs.h"

namespace rankwright::cli {
namespace run_flags_test {

using ::testing::HasSubstr;
using ::testing::Not;

rankwright::plan::TrainingConfig setup_with(const std::string& degrees) {
  return config_of("parallelism: {" + degrees +
                   ", order: tp-cp-ep-dp-pp}\nmodel: gpt2\ncluster: dgx-h100 x 1\n"
                   "job: {global_batch: 16, sequence: 64}\n");
}

struct Refused {
  std::optional<int> code;
  std::string err;
};
Refused refused(const rankwright::plan::TrainingConfig& config, bool local,
                std::optional<Launched> by) {
  std::istringstream in;
  std::ostringstream out, err;
  RunFlags flags;
  flags.plan.plan = "plan.yaml";
  flags.local = local;
  const std::optional<int> code = refuse_start(config, flags, by, {in, out, err});
  return {code, err.str()};
}

TEST(Start, SeveralRanksWithoutLauncher_IsRefused) {
  const rankwright::plan::TrainingConfig config = setup_with("tp_size: 2, pp_size: 2, dp_size: 2");
  const Refused one = refused(config, false, std::nullopt);
  EXPECT_EQ(one.code, 64);
  golden::expect("cli/run-without-launcher.txt", one.err);
  EXPECT_FALSE(refused(config, true, std::nullopt).code.has_value());
  EXPECT_FALSE(refused(config, false, Launched{8}).code.has_value());
  EXPECT_FALSE(refused(config, false, Launched{}).code.has_value());  // MPI knows the number
}

TEST(Start, OtherNumberOfRanks_ReportsBoth) {
  const rankwright::plan::TrainingConfig config = setup_with("tp_size: 2, dp_size: 4");
  Transcript transcript;
  for (const auto& [local, started] : {std::pair{false, 4}, {false, 1}, {true, 8}}) {
    const Refused said = refused(config, local, Launched{started});
    EXPECT_EQ(said.code, 64);
    transcript.add(std::to_string(started) + " started" + (local ? ", --local:" : ":"), said.err);
  }
  transcript.expect("cli/run-other-number-of-ranks.txt");
}

std::string crowd(i64 ranks, i64 cores, i64 ranks_per_core) {
  std::istringstream in;
  std::ostringstream out, err;
  const std::optional<int> code = refuse_crowd("run", ranks, cores, ranks_per_core, {in, out, err});
  EXPECT_EQ(code.value_or(0), err.str().empty() ? 0 : 64);
  return err.str();
}

TEST(LocalRanks, MoreThanTheLimitPerCore_AreRefusedWithTheFlagThatAllowsThem) {
  Transcript transcript;
  // 33 ranks on 2 cores: one core has 17.
  transcript.add("33 ranks, 2 cores, 16 per core:", crowd(33, 2, 16));
  transcript.add("2 ranks, 1 core, 1 per core:", crowd(2, 1, 1));
  transcript.expect("cli/run-ranks-per-core.txt");
}

TEST(LocalRanks, UpToTheLimitPerCore_AreStarted) {
  EXPECT_EQ(crowd(32, 2, 16), "");
  EXPECT_EQ(crowd(33, 2, 17), "");  // with the flag that the help suggests
}

TEST(Start, OneRank_NeedsNoLauncher) {
  EXPECT_FALSE(refused(setup_with("tp_size: 1, dp_size: 1"), false, std::nullopt).code.has_value());
}

TEST(RunVerb, NoRuntime_SaysWhatToInstall) {
  Transcript transcript;
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"run", "plan.yaml"}, {"probe"}}) {
    const CommandResult said = transcript.run(args);
    EXPECT_EQ(said.code, 1);
    EXPECT_EQ(said.out, "");
  }
  transcript.expect("cli/run-no-runtime.txt");
  EXPECT_EQ(run_command({"run"}).code, 64);
  EXPECT_EQ(run_command({"run", "plan.yaml", "--steps", "0"}).code, 64);
}

TEST(EngineEnv, CpuFlags_SelectTheBestKernels) {
  EXPECT_EQ(openblas_core("processor\t: 0\nflags\t\t: fpu avx2 avx512f sse\n"), "SKYLAKEX");
  EXPECT_EQ(openblas_core("processor\t: 0\nflags\t\t: fpu avx avx2\n"), "HASWELL");
  EXPECT_EQ(openblas_core("processor\t: 0\nflags\t\t: fpu avx avx512fp16 xavx2\n"), "");
  EXPECT_EQ(openblas_core("avx2"), "");  // no flags
  EXPECT_EQ(openblas_core(""), "");
}

TEST(Screen, ShowAndParse_RoundTrip) {
  for (const Screen& screen : {Screen{}, Screen{true, false, 60}, Screen{false, true, 400}})
    EXPECT_EQ(parse_screen(show(screen)), screen);
  EXPECT_EQ(parse_screen("color=1 terminal=1 width=999")->width, 400u);
  EXPECT_FALSE(parse_screen("").has_value());
  EXPECT_FALSE(parse_screen("color=1").has_value());
}

/// Returns the output of a run of `steps` steps.
std::string shown(i64 steps, bool terminal, bool quiet) {
  std::istringstream in;
  std::ostringstream out, err;
  Io io{in, out, err};
  io.err_terminal = terminal;
  RunOutput output({.quiet = quiet, .progress = {.wanted = steps, .tokens = 10}}, io);
  EXPECT_FALSE(output.open().has_value());
  for (i64 step = 1; step <= steps; ++step) output.step({.step = step, .time = Seconds{1}});
  EXPECT_EQ(output.finish({.wanted = steps, .stopped = true}, ""), 0);
  golden::expect("cli/run-stopped.txt", out.str());
  return err.str();
}

TEST(RunOutput, NoTerminal_PrintsALinePerTenthOfTheSteps) {
  const std::string text = shown(1000, false, false);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 11);  // ten, plus the first
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(text, HasSubstr("\nstep 1000/1000 "));
  const std::string few = shown(3, false, false);
  EXPECT_EQ(std::count(few.begin(), few.end(), '\n'), 3);
  EXPECT_EQ(shown(1000, false, true), "");
}

TEST(RunOutput, Terminal_RedrawsOneLine) {
  const std::string text = shown(1000, true, false);
  EXPECT_THAT(text, ::testing::StartsWith("\r\033[Kstep 1/1000 "));
  EXPECT_THAT(text, HasSubstr("\r\033[Kstep 1000/1000 "));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST(RunOutput, Files_AreWritten) {
  const Scratch csv("run-test.csv"), trace("run-test.json"), lines("run-test.jsonl");
  std::istringstream in;
  std::ostringstream out, err;
  const Io io{in, out, err};
  {
    RunOutput output({.json = true,
                      .quiet = true,
                      .csv = csv.path(),
                      .output = lines.path(),
                      .trace = trace.path(),
                      .progress = {.wanted = 1, .tokens = 10}},
                     io);
    ASSERT_FALSE(output.open().has_value());
    output.step({.step = 1, .loss = 2, .gradient_norm = 3, .time = Seconds{4}});
    EXPECT_EQ(output.finish({.wanted = 1}, "traced"), 0);
  }
  EXPECT_EQ(golden::read(csv.path()), "step,loss,gradient_norm,seconds\n1,2,3,4\n");
  EXPECT_EQ(golden::read(trace.path()), "traced");
  EXPECT_THAT(golden::read(lines.path()), HasSubstr("{\"type\":\"summary\""));
  EXPECT_EQ(out.str() + err.str(), "");
}

TEST(RunOutput, UnwritableFile_FailsBeforeTheRun) {
  std::istringstream in;
  std::ostringstream out, err;
  const Io io{in, out, err};
  const std::string path = "/no/such/folder/file";
  EXPECT_EQ(RunOutput({.csv = path}, io).open(), 1);
  EXPECT_EQ(RunOutput({.output = path}, io).open(), 1);
  EXPECT_EQ(RunOutput({.trace = path}, io).open(), 1);
  golden::expect("cli/run-unwritable-files.txt", err.str());  // one line per file
}

}  // namespace run_flags_test
}  // namespace rankwright::cli
