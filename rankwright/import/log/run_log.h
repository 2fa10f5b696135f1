// What the log of a training run says: its steps, the peak memory of ranks, timers, and how it ran
// out of memory if it did. Logs of several frameworks, one file and one row each (LogFormat); lines
// of many ranks may be mixed, coloured and cut. Not what a plan would have taken: validate/gap.h.
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

/// A line about a step, or about the mean of some.
struct RunStep {
  i64 iteration = 0;
  Seconds time{};          // 0: not said
  FlopsPerSecond flops{};  // a GPU; 0: not said
  double tokens = 0;       // a second and GPU; 0: not said
  Bytes reserved{};        // at most until then; 0: not said
  std::optional<double> loss{};
  i64 global_batch = 0;       // 0: not said
  bool skipped = false;       // its update was: the optimizer did nothing
  std::optional<i64> rank{};  // who says so
  bool again = false;         // iterations start over here: the run was started again
};

/// At most, of one rank.
struct RankPeak {
  Bytes allocated{}, reserved{};  // 0: not said
};
inline constexpr i64 kUnsaidRank = -1;

struct TimerSample {
  Seconds min{}, max{};  // over ranks
  bool both = true;      // else only the most is said
};
struct RunTimer {
  std::string name;
  std::vector<TimerSample> samples{};

  TimerSample median() const;
};

/// What was done when memory ran out, by the functions that the traceback names.
enum class RunPhase : unsigned char { unknown, building, forward, loss, backward, optimizer };
std::string_view name(RunPhase);

struct OutOfMemory {
  Bytes wanted{};
  Bytes capacity{}, free{}, allocated{}, unallocated{};  // 0: not said; unallocated: reserved too
  std::optional<i64> rank{};
  i64 steps = 0;  // that were finished before
  RunPhase phase = RunPhase::unknown;
  i64 line = 0;
};

struct LogFormat;

struct RunLog {
  const LogFormat* format = nullptr;  // which framework's lines it has; nothing: none's
  std::vector<RunStep> steps{};
  std::map<i64, RankPeak> peaks{};  // by rank
  std::vector<RunTimer> timers{};
  std::optional<OutOfMemory> oom{};  // the first
  i64 retries = 0;                   // of the allocator, the most that a line states
  std::optional<i64> world{};
  RunPhase doing = RunPhase::unknown;  // while it is read: what the traceback names
};

struct LogFormat {
  std::string_view name;       // of the target that writes it
  std::string_view summary;    // one line of `rankwright import --list`
  std::string_view looks_for;  // what a step looks like in it
  void (*read)(const LogLine&, RunLog&);
};
std::span<const LogFormat> log_formats();

/// RW0930 where there is neither a step nor a failed allocation in it.
Result<RunLog> read_run_log(std::string_view text, std::string_view file);

/// The time of a step once it is steady.
struct MeasuredStep {
  Seconds median{};
  Seconds low{}, high{};  // 5th to 95th percentile
  Seconds min{};
  i64 steps = 0;    // lines that it is of
  i64 warm_up = 0;  // lines left out: the first of the run, and of each time it was started
  i64 skipped = 0;  // lines left out: their update was skipped
};

/// Of lines that state tokens a second, the time for `tokens`: what a GPU has of a step. Nothing
/// where no line states either.
std::optional<MeasuredStep> measured_step(const RunLog& log, double tokens);

/// Puts a step into the log; what another rank says of the same step is left out.
void add_step(RunLog& log, const RunStep& step);
void add_peak(RunLog& log, std::optional<i64> rank, const RankPeak& peak);
void add_timer(RunLog& log, std::string_view name, TimerSample sample);

// The rows' functions, one file a log.
void read_megatron_line(const LogLine& line, RunLog& log);
void read_torchtitan_line(const LogLine& line, RunLog& log);
void read_pytorch_line(const LogLine& line, RunLog& log);  // of all: failed allocations

}  // namespace rankwright::importer
