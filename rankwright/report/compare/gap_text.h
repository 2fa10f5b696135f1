// A measured run against its plan, for people: on a terminal, or as Markdown.
#pragma once

#include <string>

#include "rankwright/planner/compare/gap_view.h"
#include "rankwright/report/render/paint.h"

namespace rankwright {

std::string gap_text(const TrainingConfig& config, const GapView& view, const Paint& paint,
                     std::size_t width);
std::string gap_markdown(const TrainingConfig& config, const GapView& view);

/// Schema rankwright.gap/1. Quantities are in base units, with the unit in the key.
std::string gap_json(const TrainingConfig& config, const GapView& view);

}  // namespace rankwright
