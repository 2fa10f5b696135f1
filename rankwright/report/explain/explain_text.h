// A worksheet for people: on a terminal, or as Markdown for a design document.
#pragma once

#include <string>

#include "rankwright/planner/explain/explain_view.h"
#include "rankwright/report/render/paint.h"

namespace rankwright {

std::string explain_text(const TrainingConfig& config, const ExplainView& sheet, const Paint& paint,
                         std::size_t width);

std::string explain_markdown(const TrainingConfig& config, const ExplainView& sheet);

/// Its tables alone, each below a heading of the second rank.
std::string worksheet_markdown(const TrainingConfig& config, const ExplainView& sheet);

}  // namespace rankwright
