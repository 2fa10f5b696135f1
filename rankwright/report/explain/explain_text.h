// The view of `explain` as text for a terminal, or as Markdown for a design document.
#pragma once

#include <string>

#include "rankwright/planner/explain/explain_view.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

std::string render_explain_text(const plan::TrainingConfig& config,
                                const planner::ExplainView& view, const Paint& paint,
                                std::size_t width);

std::string render_explain_markdown(const plan::TrainingConfig& config,
                                    const planner::ExplainView& view);

/// Writes only the tables, each below a second-level heading.
std::string render_explain_tables(const plan::TrainingConfig& config,
                                  const planner::ExplainView& view);

}  // namespace rankwright::report
