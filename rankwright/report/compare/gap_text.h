// A measured run compared with its plan, as text for a terminal or as Markdown.
#pragma once

#include <string>

#include "rankwright/planner/compare/gap_view.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

std::string render_gap_text(const plan::TrainingConfig& config, const planner::GapView& view,
                            const Paint& paint, std::size_t width);
std::string render_gap_markdown(const plan::TrainingConfig& config, const planner::GapView& view);

/// Writes schema rankwright.gap/1. Quantities are in base units, with the unit in the key.
std::string make_gap_json(const plan::TrainingConfig& config, const planner::GapView& view);

}  // namespace rankwright::report
