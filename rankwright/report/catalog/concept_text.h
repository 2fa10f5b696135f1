// The pages of `explain tp` and `explain all-reduce` as text and as JSON (rankwright.concept/1),
// alone or with the numbers of a plan. collective_svg.h draws a collective as a picture.
#pragma once

#include <string>

#include "rankwright/planner/learn/explain_concept.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// Draws the buffers of four ranks before and after a collective, in lines of at most `width`
/// characters: side by side if they fit, else one below the other.
std::string draw_collective(planner::Collective collective, std::size_t width);

std::string render_concept_text(const planner::ConceptPage& page, const Paint& paint,
                                std::size_t width);
std::string make_concept_json(const planner::ConceptPage& page);

/// Writes the page with the numbers of a plan.
std::string render_concept_text(const planner::ConceptAnswer& answer, const Paint& paint,
                                std::size_t width);
std::string make_concept_json(const planner::ConceptAnswer& answer);

}  // namespace rankwright::report
