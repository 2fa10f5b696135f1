// Reads the log of Megatron-LM and of frameworks built on it (Megatron-Bridge, Megatron-DeepSpeed):
// step lines, the memory report after the first steps, the timers of --timing-log-level, and the
// world size. Formats are those of training_log(), report_memory() and core/timers.py (core 0.20
// dev) and of older versions.
#include "rankwright/import/log/run_log.h"

namespace rankwright::importer {
namespace {

constexpr double kMB = 0x1p20;  // report_memory() divides by 1024 twice

// The step time: Megatron-LM's label, and Megatron-DeepSpeed's key=value form.
constexpr std::string_view kTimers[] = {"elapsed time per iteration (ms):",
                                        "elapsed_time_per_iteration_ms="};
constexpr std::string_view kIterations[] = {"iteration=", "iteration "};
constexpr std::string_view kFlops[] = {"throughput per GPU (TFLOP/s/GPU):", "TFLOPs:"};

template <std::size_t n>
std::optional<double> find_first_number(std::string_view text,
                                        const std::string_view (&labels)[n]) {
  for (const std::string_view label : labels)
    if (const std::optional<double> number = find_number_after(text, label)) return number;
  return std::nullopt;
}

void read_megatron_step(const LogLine& line, RunLog& log) {
  const std::optional<double> time = find_first_number(line.text, kTimers);
  if (!time || *time <= 0) return;
  RunStep step{.time = {*time / 1e3}, .rank = line.rank};
  for (const std::string_view label : kIterations)
    if (const std::optional<i64> at = find_count_after(line.text, label)) {
      step.iteration = *at;
      break;
    }
  if (step.iteration == 0) return;
  step.flops = {find_first_number(line.text, kFlops).value_or(0) * 1e12};
  step.tokens = find_number_after(line.text, "tokens/sec/GPU:").value_or(0);
  step.loss = find_number_after(line.text, "lm loss:");
  step.global_batch = find_count_after(line.text, "global batch size:").value_or(0);
  step.skipped = find_number_after(line.text, "number of skipped iterations:").value_or(0) > 0;
  add_step(log, step);
}

/// Reads "[Rank 0] (after 1 iterations) memory (MB) | allocated: ...". Ranks write concurrently, so
/// one line may hold the reports of two.
void read_memory(std::string_view text, RunLog& log) {
  constexpr std::string_view kBegin = "[Rank ";
  for (std::size_t at = text.find(kBegin); at != std::string_view::npos;) {
    const std::size_t next = text.find(kBegin, at + 1);
    const std::string_view part =
        text.substr(at, next == std::string_view::npos ? next : next - at);
    const std::optional<double> allocated = find_number_after(part, "max allocated:");
    if (allocated && part.find("memory (MB)") != std::string_view::npos)
      add_peak(log, find_count_after(part, kBegin),
               {.allocated = {*allocated * kMB},
                .reserved = {find_number_after(part, "max reserved:").value_or(0) * kMB}});
    at = next;
  }
}

/// Reads "forward-backward ......: (106622.81, 106624.28)", or a line with the maximum only.
void read_timer(std::string_view text, RunLog& log) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return;
  const std::size_t blank = text.find(' ', begin);
  if (blank == std::string_view::npos || blank - begin > 64) return;
  const std::string_view name = text.substr(begin, blank - begin);
  if (name.front() < 'a' || name.front() > 'z') return;
  const std::size_t dots = text.find_first_not_of('.', blank + 1);
  if (dots == std::string_view::npos || dots == blank + 1 || text[dots] != ':') return;
  const std::string_view value = text.substr(dots);
  if (const std::optional<double> min = find_number_after(value, ": (")) {
    const std::optional<double> max = find_number_after(value, ", ");
    if (max) add_timer(log, name, {{*min / 1e3}, {*max / 1e3}});
  } else if (const std::optional<double> max = find_number_after(value, ":")) {
    add_timer(log, name, {{}, {*max / 1e3}, false});
  }
}

void read_megatron_world(std::string_view text, RunLog& log) {
  if (log.world) return;
  std::optional<i64> world = find_count_after(text, "using world size:");
  const std::size_t at = text.find("  world_size ....");
  if (!world && at != std::string_view::npos)
    world = find_count_after(text.substr(text.find_last_of('.')), ".");
  if (world && *world > 0) log.world = world;
}

}  // namespace

void read_megatron_line(const LogLine& line, RunLog& log) {
  read_megatron_step(line, log);
  read_memory(line.text, log);
  read_timer(line.text, log);
  read_megatron_world(line.text, log);
}

}  // namespace rankwright::importer
