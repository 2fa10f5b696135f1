// What `plan` found, for people: on a terminal, or as Markdown for a design document. Same view,
// same bytes.
#pragma once

#include <string>

#include "rankwright/report/paint.h"
#include "rankwright/report/plan_view.h"

namespace rankwright {

/// A plan was found.
std::string plan_text(const PlanView& view, const Paint& paint, std::size_t width);
std::string plan_markdown(const PlanView& view);

/// Nothing fits, or nothing was found before the search was stopped.
std::string no_plan_text(const PlanView& view, const Paint& paint, std::size_t width);

}  // namespace rankwright
