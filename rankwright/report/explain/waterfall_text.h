// The main figures of a plan in one line, and the bars of its step: on a terminal, or as a table.
#pragma once

#include <string>

#include "rankwright/planner/explain/waterfall.h"
#include "rankwright/report/render/paint.h"
#include "rankwright/report/render/table.h"

namespace rankwright::report {

/// Summarizes an estimate: "step 12.3 s ±13 %   840 tokens/s/GPU   MFU 41 %   68.1 of 79.1 GiB on
/// pp rank 0". Memory is left out if no model is given.
std::string figures(const plan::TrainingConfig& config, const cost::Estimate& estimate);

/// Formats an error band: "±13 %", or "±35 % assumed" if it is not based on measurements.
std::string format_band(const cost::ErrorBand& band);

/// Draws one bar per item. Items below 0.2 % of the step are merged into one bar, "other", so that
/// the bars add up.
std::string render_waterfall_text(const planner::Waterfall& fall, const Paint& paint,
                                  std::size_t width);
/// Lists all items of the step.
Table make_waterfall_table(const planner::Waterfall& fall);

}  // namespace rankwright::report
