// Reads torchtitan's log: `step: 80 loss: ... memory: 5.71GiB(6.01%) tps: 57,729 tflops: 78.76`
// (the first versions wrote `wps` for tokens per second), allocator warnings, and the degrees of
// the mesh. Formats are those of torchtitan/components/metrics.py (v0.2.2). Memory is the peak that
// the allocator reserved, and a step is the mean since the previous line.
#include <algorithm>

#include "rankwright/import/log/run_log.h"

namespace rankwright::importer {
namespace {

void read_torchtitan_step(const LogLine& line, RunLog& log) {
  std::optional<double> tokens = find_number_after(line.text, "tps: ");
  if (!tokens) tokens = find_number_after(line.text, "wps: ");
  const std::optional<i64> iteration = find_count_after(line.text, "step: ");
  if (!tokens || *tokens <= 0 || !iteration || *iteration == 0) return;
  if (line.text.find("validate step:") != std::string_view::npos) return;
  const Bytes reserved = find_memory_after(line.text, "memory: ").value_or(Bytes{});
  add_step(log, {.iteration = *iteration,
                 .flops = {find_number_after(line.text, "tflops: ").value_or(0) * 1e12},
                 .tokens = *tokens,
                 .reserved = reserved,
                 .loss = find_number_after(line.text, "loss: "),
                 .rank = line.rank});
  if (reserved > Bytes{}) add_peak(log, line.rank, {.reserved = reserved});
}

/// Reads "8 CUDA memory allocation retries."
void read_retries(std::string_view text, RunLog& log) {
  const std::size_t at = text.find(" CUDA memory allocation retries");
  if (at == std::string_view::npos) return;
  const std::size_t begin = text.rfind(' ', at == 0 ? 0 : at - 1);
  const std::optional<i64> retries =
      find_count_after(text.substr(begin == std::string_view::npos ? 0 : begin, at), "");
  if (retries) log.retries = std::max(log.retries, *retries);
}

/// Reads the world size as the product of the mesh degrees.
void read_torchtitan_world(std::string_view text, RunLog& log) {
  if (log.world || text.find("Building device mesh with parallelism:") == std::string_view::npos)
    return;
  i64 world = 1;
  for (const std::string_view axis : {"pp=", "dp_replicate=", "dp_shard=", "cp=", " tp="}) {
    const std::optional<i64> degree = find_count_after(text, axis);
    if (!degree || *degree < 1) return;
    const std::optional<i64> more = product({world, *degree});
    if (!more || *more > kMaxCount) return;
    world = *more;
  }
  log.world = world;
}

}  // namespace

void read_torchtitan_line(const LogLine& line, RunLog& log) {
  read_torchtitan_step(line, log);
  read_retries(line.text, log);
  read_torchtitan_world(line.text, log);
}

}  // namespace rankwright::importer
