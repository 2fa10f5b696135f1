// A worksheet for people: on a terminal, or as Markdown for a design document.
#pragma once

#include <string>

#include "rankwright/planner/worksheet.h"
#include "rankwright/report/paint.h"

namespace rankwright {

std::string explain_text(const Setup& setup, const Worksheet& sheet, const Paint& paint,
                         std::size_t width);

std::string explain_markdown(const Setup& setup, const Worksheet& sheet);

/// Its tables alone, each below a heading of the second rank.
std::string worksheet_markdown(const Setup& setup, const Worksheet& sheet);

}  // namespace rankwright
