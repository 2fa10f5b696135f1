#include "rankwright/import/log/run_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rankwright/base/format.h"

namespace rankwright::importer {
namespace {

constexpr LogFormat kLogFormats[] = {
    {"megatron", "output of training_log and its timers",
     "`iteration N/ M | ... elapsed time per iteration (ms): T |`", read_megatron_line},
    {"torchtitan", "step lines, with or without colors", "`step: N loss: ... tps: T`",
     read_torchtitan_line},
    {"deepspeed", "step lines of its pipeline engine", "`steps: N loss: ... iter time (s): T`",
     read_deepspeed_line},
    {"nemo", "step lines of NeMo 2, or the progress bar of NeMo 1",
     "`global_step: N ... train_step_timing in s: T`", read_nemo_line},
};

constexpr std::size_t kLongestLine = 16384;   // the rest of a line is ignored
constexpr std::size_t kMaxSamples = 100'000;  // over all timers
// The first kWarmUp lines are dropped from a log of at least kEnough: kernels are compiled and
// selected, and caches are cold.
constexpr std::size_t kWarmUp = 3, kEnough = 8;

constexpr std::string_view kPhases[] = {"unknown", "building", "forward",
                                        "loss",    "backward", "optimizer"};

/// Returns the quantile by linear interpolation between the two nearest values.
Seconds quantile(const std::vector<Seconds>& sorted, double share) {
  const double at = share * double(sorted.size() - 1);
  const std::size_t below = std::size_t(std::floor(at));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - double(below)) * (sorted[above] - sorted[below]);
}

Seconds estimate_step_time(const RunStep& step, double tokens) {
  if (step.time.value > 0) return step.time;
  return step.tokens > 0 && tokens > 0 ? Seconds{tokens / step.tokens} : Seconds{};
}

std::string list_step_examples() {
  std::string all;
  for (const LogFormat& format : kLogFormats) all += fmt::format("{}, ", format.step_example);
  return all + "or `CUDA out of memory`";
}

}  // namespace

std::string_view name(RunPhase phase) { return kPhases[std::size_t(phase)]; }

std::span<const LogFormat> log_formats() { return kLogFormats; }

TimerSample RunTimer::median() const {
  if (samples.empty()) return {};
  std::vector<Seconds> min, max;
  bool both = true;
  for (const TimerSample& one : samples) {
    min.push_back(one.min);
    max.push_back(one.max);
    both = both && one.both;
  }
  std::sort(min.begin(), min.end());
  std::sort(max.begin(), max.end());
  return {quantile(min, 0.5), quantile(max, 0.5), both};
}

void add_step(RunLog& log, const RunStep& step) {
  if (log.steps.size() >= kMaxLogSteps) return;
  RunStep next = step;
  if (!log.steps.empty()) {
    const RunStep& last = log.steps.back();
    if (next.iteration == last.iteration) return;  // another rank reports the same step
    // Labeled ranks may lag behind each other; a rank whose iteration decreases was restarted.
    if (next.iteration < last.iteration) {
      if (next.rank && log.steps.front().rank && next.rank != log.steps.front().rank) return;
      next.again = true;
    } else if (next.rank && log.steps.front().rank && next.rank != log.steps.front().rank) {
      return;  // the rank that reported first reports this step too
    }
  }
  log.steps.push_back(next);
}

void add_peak(RunLog& log, std::optional<i64> rank, const RankPeak& peak) {
  const i64 who = rank.value_or(kUnknownRank);
  if (log.peaks.size() >= kMaxLogRanks && !log.peaks.contains(who)) return;
  RankPeak& known = log.peaks[who];
  known.allocated = std::max(known.allocated, peak.allocated);
  known.reserved = std::max(known.reserved, peak.reserved);
}

void add_timer(RunLog& log, std::string_view name, TimerSample sample) {
  auto timer = std::find_if(log.timers.begin(), log.timers.end(),
                            [&](const RunTimer& one) { return one.name == name; });
  if (timer == log.timers.end()) {
    if (log.timers.size() >= kMaxLogTimers) return;
    log.timers.push_back({std::string(name)});
    timer = log.timers.end() - 1;
  }
  if (timer->samples.size() < kMaxSamples / kMaxLogTimers) timer->samples.push_back(sample);
}

Result<RunLog> read_run_log(std::string_view text, std::string_view file) {
  RunLog log;
  std::size_t max = 0;
  i64 number = 0;
  std::vector<std::size_t> by_format(std::size(kLogFormats), 0);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string line = strip_escapes(text.substr(0, std::min(end, kLongestLine)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const LogLine one{line, parse_rank_label(line), ++number};
    read_pytorch_line(one, log);
    for (std::size_t f = 0; f < std::size(kLogFormats); ++f) {
      const std::size_t before = log.steps.size();
      kLogFormats[f].read(one, log);
      by_format[f] += log.steps.size() - before;
      if (by_format[f] <= max) continue;
      max = by_format[f];
      log.format = &kLogFormats[f];
    }
  }
  if (!log.steps.empty() || log.oom) return log;
  return fail({.code = "RW0930",
               .message = "no training step in the log",
               .detail = fmt::format("no line of {} is {}", plural(number, "line", "lines"),
                                     list_step_examples()),
               .hint = "pass the output of the rank that logs steps, often the last or rank 0",
               .where = {.file = std::string(file)}});
}

std::optional<MeasuredStep> measure_step(const RunLog& log, double tokens) {
  const std::size_t lines = log.steps.size();
  const std::size_t warm = lines >= kEnough ? kWarmUp : lines >= 2 ? 1 : 0;
  MeasuredStep measured;
  std::vector<Seconds> times;
  std::size_t since_start = 0;
  for (const RunStep& step : log.steps) {
    if (step.again) since_start = 0;
    const Seconds time = estimate_step_time(step, tokens);
    if (time.value <= 0) continue;
    if (since_start++ < warm)
      ++measured.warm_up;
    else if (step.skipped)
      ++measured.skipped;
    else
      times.push_back(time);
  }
  if (times.empty()) return std::nullopt;
  std::sort(times.begin(), times.end());
  measured.median = quantile(times, 0.5);
  measured.low = quantile(times, 0.05);
  measured.high = quantile(times, 0.95);
  measured.min = times.front();
  measured.steps = i64(times.size());
  return measured;
}

}  // namespace rankwright::importer
