// A run as text: the progress line, and a final comparison of prediction and measurement.
#pragma once

#include <optional>
#include <string>

#include "rankwright/planner/run/run_view.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// The data of the progress line besides the step.
struct RunProgress {
  i64 wanted = 0;  // steps
  i64 tokens = 0;  // per step
  bool pipelined = false;
  std::optional<double> predicted_outside_cells{};
  std::optional<Seconds> left{};  // until the last step ends; empty if unknown
};

/// Returns "step 37/100  loss 2.913  8,410 tokens/s  outside cells 18 % (predicted 17 %)  eta
/// 0:41".
std::string format_progress(const planner::TrainedStep& step, const RunProgress& progress);

/// Formats a time in whole seconds: "0:41", "1:02:03", "26:00:00".
std::string format_clock(Seconds time);

/// The header of the CSV file.
inline constexpr std::string_view kRunCsvHead = "step,loss,gradient_norm,seconds\n";
/// Writes one line of the CSV file.
std::string format_csv_line(const planner::TrainedStep& step);

std::string render_run_text(const planner::RunSummary& summary, const Paint& paint);

}  // namespace rankwright::report
