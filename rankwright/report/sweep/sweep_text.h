// A sweep of one setting as a terminal shows it, as Markdown and as JSON: what it shows in a few
// sentences, then one line per value with a bar. planner/explain/sweep_view.h computes it.
#pragma once

#include <string>

#include "rankwright/planner/explain/sweep_view.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// Writes the sweep in lines of at most `width` columns; narrow tables leave out figures.
std::string render_sweep_text(const planner::SweepAnswer& answer, const Paint& paint,
                              std::size_t width);
std::string render_sweep_markdown(const planner::SweepAnswer& answer);

/// Writes the sweep as JSON, schema rankwright.sweep/1.
std::string make_sweep_json(const planner::SweepAnswer& answer);

}  // namespace rankwright::report
