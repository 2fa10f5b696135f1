// Draws a collective as a picture: the buffers of four ranks before and after it, one color per
// part. The colors differ in lightness, so that they can be told apart in grayscale.
#pragma once

#include <string>

#include "rankwright/planner/concept/concept_page.h"

namespace rankwright::report {

/// Returns the SVG file. Requires: the page is one of a collective.
std::string draw_collective_svg(const planner::ConceptPage& page);

}  // namespace rankwright::report
