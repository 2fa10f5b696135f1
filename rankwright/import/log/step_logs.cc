// Reads the step lines of frameworks that print little else: DeepSpeed's pipeline engine
// (runtime/pipe/engine.py) and NeMo, version 2 or Lightning's progress bar.
#include "rankwright/import/log/run_log.h"

namespace rankwright::importer {

/// Reads "steps: 100 loss: 0.0585 iter time (s): 0.186 samples/sec: 53.694".
void read_deepspeed_line(const LogLine& line, RunLog& log) {
  const std::optional<double> time = find_number_after(line.text, "iter time (s): ");
  const std::optional<i64> iteration = find_count_after(line.text, "steps: ");
  if (!time || *time <= 0 || !iteration || *iteration == 0) return;
  add_step(log, {.iteration = *iteration,
                 .time = {*time},
                 .loss = find_number_after(line.text, "loss: "),
                 .rank = line.rank});
}

/// Reads "... | global_step: 10 | ... | train_step_timing in s: 6.2", or a progress bar with
/// "global_step=10.0, ..., train_step_timing in s=6.2", which may be drawn many times on one line.
void read_nemo_line(const LogLine& line, RunLog& log) {
  constexpr std::string_view kTime = "train_step_timing in s";
  std::string_view rest = line.text;
  for (std::size_t at = rest.find(kTime); at != std::string_view::npos; at = rest.find(kTime)) {
    const std::string_view before = rest.substr(0, at);
    rest.remove_prefix(at);
    std::optional<double> time = find_number_after(rest, "timing in s: ");
    if (!time || rest.starts_with("train_step_timing in s="))
      time = find_number_after(rest, "timing in s=");
    rest.remove_prefix(kTime.size());
    std::optional<double> step = find_number_after(before, "global_step: ");
    if (!step) step = find_number_after(before, "global_step=");
    if (!time || *time <= 0 || !step || *step >= 1e12) continue;
    std::optional<double> loss = find_number_after(before, "reduced_train_loss: ");
    if (!loss) loss = find_number_after(before, "reduced_train_loss=");
    add_step(log, {.iteration = i64(*step) + 1,  // steps count from 0
                   .time = {*time},
                   .loss = loss,
                   .global_batch = find_count_after(before, "global_batch_size: ").value_or(0),
                   .rank = line.rank});
  }
}

}  // namespace rankwright::importer
