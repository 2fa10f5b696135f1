// A measured run against its plan, for people: on a terminal, or as Markdown.
#pragma once

#include <string>

#include "rankwright/planner/gap_view.h"
#include "rankwright/report/paint.h"

namespace rankwright {

std::string gap_text(const Setup& setup, const GapView& view, const Paint& paint,
                     std::size_t width);
std::string gap_markdown(const Setup& setup, const GapView& view);

/// Schema rankwright.gap/1. Quantities are in base units, with the unit in the key.
std::string gap_json(const Setup& setup, const GapView& view);

}  // namespace rankwright
