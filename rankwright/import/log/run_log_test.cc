#include "rankwright/import/log/run_log.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/support/golden.h"

namespace rankwright::importer {
namespace run_log_test {

RunLog sample(const std::string& name) {
  const std::string file = std::string(RANKWRIGHT_SOURCE_DIR) + "/tests/data/import/" + name;
  const Result<RunLog> log = read_run_log(golden::read(file), name);
  EXPECT_TRUE(log.has_value()) << name;
  return log.value_or(RunLog{});
}

RunLog read_log(const std::string& text) {
  const Result<RunLog> log = read_run_log(text, "run.log");
  EXPECT_TRUE(log.has_value()) << text;
  return log.value_or(RunLog{});
}

std::string megatron_line(i64 iteration, double ms) {
  return fmt::format(" iteration {:8d}/    500 | elapsed time per iteration (ms): {:.1f} |\n",
                     iteration, ms);
}

TEST(MegatronLog, HasStepsMemoryTimersAndTheWorldSize) {
  const RunLog log = sample("megatron.log");
  ASSERT_EQ(log.steps.size(), 10u);  // the eleventh line is truncated
  ASSERT_NE(log.format, nullptr);
  EXPECT_EQ(log.format->name, "megatron");
  EXPECT_EQ(log.world, 64);
  EXPECT_EQ(log.steps[1].iteration, 2);
  EXPECT_DOUBLE_EQ(log.steps[1].time.value, 8.1002);
  EXPECT_EQ(log.steps[1].global_batch, 512);
  EXPECT_DOUBLE_EQ(log.steps[1].loss.value_or(0), 9);
  EXPECT_TRUE(log.steps[8].skipped);
  EXPECT_FALSE(log.steps[7].skipped);
  ASSERT_EQ(log.peaks.size(), 3u);  // two of them are on one line
  EXPECT_DOUBLE_EQ(log.peaks.at(16).allocated.value, 50000.5 * 0x1p20);
  EXPECT_DOUBLE_EQ(log.peaks.at(48).reserved.value, 53000 * 0x1p20);
  EXPECT_FALSE(log.oom.has_value());
}

TEST(MegatronLog, TimersAreMediansOfThePrintedSamples) {
  const RunLog log = sample("megatron.log");
  std::vector<std::string> names;
  for (const RunTimer& timer : log.timers) names.push_back(timer.name);
  EXPECT_THAT(names, ::testing::ElementsAre("forward-backward", "forward-compute",
                                            "backward-compute", "batch-generator", "optimizer"));
  const TimerSample generator = log.timers[3].median();
  EXPECT_DOUBLE_EQ(generator.min.value, 0.00525);
  EXPECT_DOUBLE_EQ(generator.max.value, 0.0125);
  EXPECT_TRUE(generator.both);
  const RunLog max =
      read_log(megatron_line(1, 100) + "max time across ranks (ms):\n    optimizer .....: 12.50\n");
  ASSERT_EQ(max.timers.size(), 1u);
  EXPECT_FALSE(max.timers[0].median().both);
  EXPECT_DOUBLE_EQ(max.timers[0].median().max.value, 0.0125);
}

TEST(MegatronLog, ReadsTheFormOfMegatronDeepSpeed) {
  const RunLog log = read_log(
      "[10:49][INFO] -  iteration=       7/  317892 | consumed_samples=  768 | "
      "elapsed_time_per_iteration_ms=29570.0 | learning_rate=9.4e-09 |\n");
  ASSERT_EQ(log.steps.size(), 1u);
  EXPECT_EQ(log.steps[0].iteration, 7);
  EXPECT_DOUBLE_EQ(log.steps[0].time.value, 29.57);
}

TEST(TorchtitanLog, ManyRanksLog_KeepsOneLinePerStep) {
  const RunLog log = sample("torchtitan.log");
  ASSERT_EQ(log.steps.size(), 6u);
  EXPECT_EQ(log.format->name, "torchtitan");
  EXPECT_EQ(log.world, 8);
  EXPECT_EQ(log.retries, 3);
  EXPECT_EQ(log.steps[1].iteration, 10);
  EXPECT_EQ(log.steps[1].tokens, 7120);
  EXPECT_EQ(log.steps[1].rank, 0);
  EXPECT_DOUBLE_EQ(log.peaks.at(4).reserved.value, 49 * 0x1p30);  // 40 + 5 + 4
  // 7120, 7302, 7296, 7305, 7310 tokens/s remain: 65536 tokens in 65536 / 7302 s.
  const std::optional<MeasuredStep> step = measure_step(log, 65536);
  ASSERT_TRUE(step.has_value());
  EXPECT_EQ(step->warm_up, 1);
  EXPECT_EQ(step->steps, 5);
  EXPECT_DOUBLE_EQ(step->median.value, 65536.0 / 7302);
  EXPECT_FALSE(measure_step(log, 0).has_value());
  EXPECT_EQ(sample("wps.log").steps.at(1).tokens, 57729);
}

TEST(MeasuredStep, IgnoresWarmUpSkippedStepsAndSpikes) {
  // 10 lines: three warm up, one is skipped; 7901, 7899.5, 7902.5, 7895, 9950, 7903 remain.
  const std::optional<MeasuredStep> step = measure_step(sample("megatron.log"), 0);
  ASSERT_TRUE(step.has_value());
  EXPECT_EQ(step->warm_up, 3);
  EXPECT_EQ(step->skipped, 1);
  EXPECT_EQ(step->steps, 6);
  EXPECT_DOUBLE_EQ(step->median.value, (7.901 + 7.9025) / 2);
  EXPECT_DOUBLE_EQ(step->min.value, 7.895);
  EXPECT_GT(step->high, step->median);
}

TEST(MeasuredStep, Restart_DropsWarmUpAgain) {
  std::string text;
  for (const i64 first : {1, 3})
    for (i64 i = 0; i < 6; ++i) text += megatron_line(first + i, i == 0 ? 9000 : 1000);
  const std::optional<MeasuredStep> step = measure_step(read_log(text), 0);
  ASSERT_TRUE(step.has_value());
  EXPECT_EQ(step->warm_up, 6);
  EXPECT_DOUBLE_EQ(step->high.value, 1);
}

TEST(OutOfMemoryLog, HasRequestedSizeRankAndPhase) {
  const RunLog log = sample("oom.log");
  ASSERT_TRUE(log.oom.has_value());
  EXPECT_EQ(log.format, nullptr);
  EXPECT_DOUBLE_EQ(log.oom->wanted.value, 3.91 * 0x1p30);
  EXPECT_DOUBLE_EQ(log.oom->capacity.value, 79.10 * 0x1p30);
  EXPECT_DOUBLE_EQ(log.oom->free.value, 412 * 0x1p20);
  EXPECT_DOUBLE_EQ(log.oom->allocated.value, 74.10 * 0x1p30);
  EXPECT_DOUBLE_EQ(log.oom->unallocated.value, 1.52 * 0x1p30);
  EXPECT_EQ(log.oom->rank, 3);
  EXPECT_EQ(log.oom->steps, 0);
  EXPECT_EQ(log.oom->phase, RunPhase::loss);
}

TEST(OutOfMemoryLog, ReadsTheWordingOfOlderVersions) {
  const RunLog brackets = read_log(
      megatron_line(41, 100) +
      "RuntimeError: CUDA out of memory. Tried to allocate 200.00 MiB (GPU 0; 14.61 GiB total "
      "capacity; 13.50 GiB already allocated; 37.12 MiB free; 13.75 GiB reserved in total by "
      "PyTorch) If reserved memory is >> allocated memory try\n");
  ASSERT_TRUE(brackets.oom.has_value());
  EXPECT_EQ(brackets.oom->steps, 41);
  EXPECT_DOUBLE_EQ(brackets.oom->capacity.value, 14.61 * 0x1p30);
  EXPECT_DOUBLE_EQ(brackets.oom->free.value, 37.12 * 0x1p20);
  EXPECT_DOUBLE_EQ(brackets.oom->allocated.value, 13.5 * 0x1p30);
  EXPECT_DOUBLE_EQ(brackets.oom->unallocated.value, 0.25 * 0x1p30);
  const RunLog slip = read_log(
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a "
      "total capacty of 79.33 GiB of which 1.20 GiB is free.\n");
  EXPECT_DOUBLE_EQ(slip.oom->capacity.value, 79.33 * 0x1p30);
}

TEST(DeepSpeedLog, HasTheStepsOfItsPipeline) {
  const RunLog log = read_log(
      "steps: 10 loss: 5.5508 lm loss: 5.5103 iter time (s): 0.936 samples/sec: 136.706\n"
      "steps: 20 loss: 5.1 iter time (s): 0.5 samples/sec: 256\n");
  ASSERT_EQ(log.steps.size(), 2u);
  EXPECT_EQ(log.format->name, "deepspeed");
  EXPECT_EQ(log.steps[1].iteration, 20);
  EXPECT_DOUBLE_EQ(log.steps[1].time.value, 0.5);
  EXPECT_DOUBLE_EQ(log.steps[0].loss.value_or(0), 5.5508);
}

TEST(NemoLog, HasStepsOfLinesAndProgressBars) {
  const RunLog lines = read_log(
      "Training epoch 0, iteration 0/9 | lr: 1e-06 | global_batch_size: 8 | global_step: 0 | "
      "reduced_train_loss: 1.5 | train_step_timing in s: 7.126\n"
      "Training epoch 0, iteration 1/9 | lr: 1e-06 | global_batch_size: 8 | global_step: 1 | "
      "reduced_train_loss: 1.25 | train_step_timing in s: 2.5 | consumed_samples: 16\n");
  ASSERT_EQ(lines.steps.size(), 2u);
  EXPECT_EQ(lines.format->name, "nemo");
  EXPECT_EQ(lines.steps[1].iteration, 2);
  EXPECT_EQ(lines.steps[1].global_batch, 8);
  EXPECT_DOUBLE_EQ(lines.steps[1].time.value, 2.5);
  const RunLog bar = read_log(
      "Epoch 0: :   1%| | 1/100 [00:07<11, reduced_train_loss=0.5, global_step=0.000, "
      "train_step_timing in s=7.10]\rEpoch 0: :   2%| | 2/100 [00:10<11, reduced_train_loss=0.4, "
      "global_step=1.000, train_step_timing in s=3.130]\n");
  ASSERT_EQ(bar.steps.size(), 2u);
  EXPECT_DOUBLE_EQ(bar.steps[1].time.value, 3.13);
  EXPECT_DOUBLE_EQ(bar.steps[1].loss.value_or(0), 0.4);
}

TEST(RunLog, NoStep_NamesTheExpectedLines) {
  const Result<RunLog> log = read_run_log("hello\nworld\n", "run.log");
  ASSERT_FALSE(log.has_value());
  EXPECT_EQ(log.error().code, "RW0930");
  EXPECT_EQ(log.error().where.file, "run.log");
  ASSERT_FALSE(log_formats().empty());
  for (const LogFormat& format : log_formats())
    EXPECT_THAT(log.error().detail, ::testing::HasSubstr(std::string(format.step_example)));
  EXPECT_FALSE(read_run_log("", "run.log").has_value());
}

TEST(LogLine, ParsesRankLabelsButNotTimesOfDay) {
  EXPECT_EQ(parse_rank_label("[rank3]: x"), 3);
  EXPECT_EQ(parse_rank_label(" 12: x"), 12);
  EXPECT_EQ(parse_rank_label("[default0]:x"), 0);
  EXPECT_EQ(parse_rank_label("10:20:30 x"), std::nullopt);
  EXPECT_EQ(parse_rank_label("[2026-03-02] x"), std::nullopt);
  EXPECT_EQ(parse_rank_label(""), std::nullopt);
}

RC_GTEST_PROP(RunLog, ReadsBackTheStepsThatWereWritten, ()) {
  const std::vector<int> times =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 1'000'000)));
  std::string text;
  for (std::size_t i = 0; i < times.size(); ++i) {
    text += "\033[31m" + megatron_line(i64(i) + 1, times[i] / 10.0);
    if (i % 3 == 0) text += "noise step: | iteration elapsed\n";
  }
  const Result<RunLog> log = read_run_log(text, "run.log");
  RC_ASSERT(log.has_value());
  RC_ASSERT(log->steps.size() == times.size());
  for (std::size_t i = 0; i < times.size(); ++i)
    RC_ASSERT(std::abs(log->steps[i].time.value - times[i] / 1e4) < 1e-9);
  const std::optional<MeasuredStep> step = measure_step(*log, 0);
  RC_ASSERT(step.has_value());
  RC_ASSERT(step->low <= step->median && step->median <= step->high && step->min <= step->low);
  RC_ASSERT(step->steps + step->warm_up + step->skipped == i64(times.size()));
}

}  // namespace run_log_test
}  // namespace rankwright::importer
