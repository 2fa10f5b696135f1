// The figures of a plan in one line, and the bars of its step: on a terminal, or as a table.
#pragma once

#include <string>

#include "rankwright/planner/explain/waterfall.h"
#include "rankwright/report/render/paint.h"
#include "rankwright/report/render/table.h"

namespace rankwright::report {

/// Returns "step 12.3 s ±13 %   840 tokens/s/GPU   MFU 41 %   68.1 of 79.1 GiB on pp rank 0".
/// Memory is left out where no model is named.
std::string figures(const plan::TrainingConfig& config, const cost::Estimate& estimate);

/// Returns "±13 %", and where nothing was measured "±35 % assumed".
std::string band_text(const cost::ErrorBand& band);

/// Draws one bar per item. Items of less than a five-hundredth of the step are one bar, "other", so
/// that the bars add up.
std::string waterfall_text(const planner::Waterfall& fall, const Paint& paint, std::size_t width);
Table waterfall_table(const planner::Waterfall& fall);

}  // namespace rankwright::report
