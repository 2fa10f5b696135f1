// Reads the log of a training run: its steps, peak memory per rank, timers, and a failed
// allocation. Supports several frameworks, one file and one LogFormat row each; lines of many ranks
// may be interleaved, colored and truncated. The comparison with a plan is in validate/gap.h.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/result.h"
#include "rankwright/import/log/log_line.h"

namespace rankwright::importer {

inline constexpr std::size_t kMaxLogBytes = std::size_t{256} << 20;
inline constexpr std::size_t kMaxLogSteps = 1'000'000;
inline constexpr std::size_t kMaxLogTimers = 64;
inline constexpr std::size_t kMaxLogRanks = 65'536;

/// One step line, which may state the mean of several steps.
struct RunStep {
  i64 iteration = 0;
  Seconds time{};          // 0: not stated
  FlopsPerSecond flops{};  // per GPU; 0: not stated
  double tokens = 0;       // tokens per second per GPU; 0: not stated
  Bytes reserved{};        // peak so far; 0: not stated
  std::optional<double> loss{};
  i64 global_batch = 0;       // 0: not stated
  bool skipped = false;       // the optimizer skipped the update
  std::optional<i64> rank{};  // rank that wrote the line
  bool again = false;         // iteration numbers start over here: the run was restarted
};

/// Peak memory of one rank.
struct RankPeak {
  Bytes allocated{}, reserved{};  // 0: not stated
};
/// Key of peaks that no rank label precedes.
inline constexpr i64 kUnknownRank = -1;

/// One measurement of a timer.
struct TimerSample {
  Seconds min{}, max{};  // over ranks
  bool both = true;      // false: only the maximum is printed
};
/// All measurements of a timer.
struct RunTimer {
  std::string name;
  std::vector<TimerSample> samples{};

  TimerSample median() const;
};

/// The phase in which memory ran out, from the functions in the traceback.
enum class RunPhase : unsigned char { unknown, building, forward, loss, backward, optimizer };
std::string_view name(RunPhase);

/// A failed allocation.
struct OutOfMemory {
  Bytes wanted{};
  Bytes capacity{}, free{}, allocated{},
      unallocated{};  // 0: not stated; `unallocated` is reserved but free
  std::optional<i64> rank{};
  i64 steps = 0;  // completed before
  RunPhase phase = RunPhase::unknown;
  i64 line = 0;
};

struct LogFormat;

/// The contents of a log.
struct RunLog {
  const LogFormat* format = nullptr;  // framework with the most step lines; null: none
  std::vector<RunStep> steps{};
  std::map<i64, RankPeak> peaks{};  // by rank
  std::vector<RunTimer> timers{};
  std::optional<OutOfMemory> oom{};  // the first
  i64 retries = 0;                   // of the allocator; the largest number printed
  std::optional<i64> world{};
  RunPhase doing = RunPhase::unknown;  // state of the reader: phase named by the current traceback
};

/// One supported log format.
struct LogFormat {
  std::string_view name;          // of the framework that writes it
  std::string_view summary;       // one line of `rankwright import --list`
  std::string_view step_example;  // what a step line looks like
  void (*read)(const LogLine&, RunLog&);
};
std::span<const LogFormat> log_formats();

/// Reads a log. Fails with RW0930 if it has neither a step nor a failed allocation.
Result<RunLog> read_run_log(std::string_view text, std::string_view file);

/// The steady-state time of a step.
struct MeasuredStep {
  Seconds median{};
  Seconds low{}, high{};  // 5th and 95th percentile
  Seconds min{};
  i64 steps = 0;    // lines used
  i64 warm_up = 0;  // lines dropped at the beginning and after each restart
  i64 skipped = 0;  // lines dropped because their update was skipped
};

/// Returns the step time, without warm-up and skipped steps. Where a line states only tokens per
/// second, its time is that of `tokens`, the tokens per step and GPU. Returns nothing if no line
/// states either.
std::optional<MeasuredStep> measure_step(const RunLog& log, double tokens);

/// Adds a step to the log, unless another rank has already reported it.
void add_step(RunLog& log, const RunStep& step);
void add_peak(RunLog& log, std::optional<i64> rank, const RankPeak& peak);
void add_timer(RunLog& log, std::string_view name, TimerSample sample);

// The functions of the rows, one file per log format.
void read_megatron_line(const LogLine& line, RunLog& log);
void read_torchtitan_line(const LogLine& line, RunLog& log);
void read_deepspeed_line(const LogLine& line, RunLog& log);
void read_nemo_line(const LogLine& line, RunLog& log);
void read_pytorch_line(const LogLine& line, RunLog& log);  // for all formats: failed allocations

}  // namespace rankwright::importer
