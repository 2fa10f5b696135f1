// A worksheet for people: on a terminal, or as Markdown for a design document.
#pragma once

#include <string>

#include "rankwright/planner/explain/explain_view.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

std::string explain_text(const plan::TrainingConfig& config, const planner::ExplainView& sheet,
                         const Paint& paint, std::size_t width);

std::string explain_markdown(const plan::TrainingConfig& config, const planner::ExplainView& sheet);

/// Its tables alone, each below a heading of the second rank.
std::string worksheet_markdown(const plan::TrainingConfig& config,
                               const planner::ExplainView& sheet);

}  // namespace rankwright::report
