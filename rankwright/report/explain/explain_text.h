// The view of `explain` as text for a terminal, or as Markdown for a design document.
#pragma once

#include <span>
#include <string>

#include "rankwright/planner/explain/explain_view.h"
#include "rankwright/report/render/paint.h"
#include "rankwright/report/render/table.h"

namespace rankwright::report {

std::string render_explain_text(const plan::TrainingConfig& config,
                                const planner::ExplainView& view, const Paint& paint,
                                std::size_t width);

std::string render_explain_markdown(const plan::TrainingConfig& config,
                                    const planner::ExplainView& view);

/// Writes only the tables, each below a second-level heading.
std::string render_explain_tables(const plan::TrainingConfig& config,
                                  const planner::ExplainView& view);

/// Returns one line per kind of collective: calls, bytes, link and times.
Table make_communication_table(std::span<const planner::CommunicationRow> rows);

}  // namespace rankwright::report
