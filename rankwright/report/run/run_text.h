// A run as a person reads it: the line of its progress, and at the end what was predicted beside
// what was measured.
#pragma once

#include <optional>
#include <string>

#include "rankwright/planner/run/run_view.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// What the progress line needs besides the step.
struct RunProgress {
  i64 wanted = 0;  // steps
  i64 tokens = 0;  // a step
  bool pipelined = false;
  std::optional<double> predicted_bubble{};
  std::optional<Seconds> left{};  // until the last step ends; nothing: not known yet
};

/// "step 37/100  loss 2.913  8,410 tokens/s  bubble 18 % (predicted 17 %)  eta 0:41".
std::string progress_text(const planner::TrainedStep& step, const RunProgress& progress);

/// "0:41", "1:02:03", "26:00:00"; whole seconds.
std::string clock_text(Seconds time);

/// Lines of a comma-separated file, the head and one for a step.
inline constexpr std::string_view kRunCsvHead = "step,loss,gradient_norm,seconds\n";
std::string csv_line(const planner::TrainedStep& step);

std::string run_text(const planner::RunSummary& summary, const Paint& paint);

}  // namespace rankwright::report
