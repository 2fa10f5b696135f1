// Writes the log of a run that took what a trial predicts, in Megatron-LM's format.
#pragma once

#include <fmt/format.h>

#include <string>

#include "rankwright/validate/suspect.h"

namespace rankwright::run_logs {

/// Returns 18 steps around `step`, which is the median without the first three.
inline std::string steps(Seconds step) {
  constexpr double kAround[] = {-0.2, 0.1, 0, -0.1, 0.2};  // percent
  std::string text = "training ...\n";
  for (int i = 1; i <= 18; ++i) {
    const double percent = i <= 3 ? 40.0 / i : kAround[i % 5];
    text += fmt::format(
        " [2026-03-02 10:00:{:02d}] iteration {:8d}/ 500 | consumed samples: {:12d} | elapsed time "
        "per iteration (ms): {:.4f} | lm loss: 9.0E+00 | number of skipped iterations:   0 |\n",
        i, i, i, step.value * 1e3 * (1 + percent / 100));
  }
  return text;
}

inline std::string timers(const validate::TrialPrediction& told) {
  std::string text = "(min, max) time across ranks (ms):\n";
  for (const validate::TimerPrediction& timer : told.timers) {
    const Seconds min = timer.time.both ? timer.time.min : timer.time.max;
    text += fmt::format("    {:.<48}: ({:.2f}, {:.2f})\n", std::string(timer.name) + " ",
                        min.value * 1e3, timer.time.max.value * 1e3);
  }
  return text;
}

inline importer::RunLog read(const std::string& text) {
  return importer::read_run_log(text, "run.log").value();
}

}  // namespace rankwright::run_logs
