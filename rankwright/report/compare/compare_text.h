// A comparison as text for a terminal, or as Markdown for a design document.
#pragma once

#include <string>

#include "rankwright/planner/compare/compare_view.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// A plan with the name of its file.
struct NamedPlan {
  std::string name;
  const plan::TrainingConfig& config;
};

std::string render_compare_text(const NamedPlan& a, const NamedPlan& b,
                                const planner::CompareView& view, const Paint& paint,
                                std::size_t width);

std::string render_compare_markdown(const NamedPlan& a, const NamedPlan& b,
                                    const planner::CompareView& view);

/// Returns the plan's degree tags with its schedule and number of microbatches.
std::string write_plan_line(const plan::TrainingConfig& config);

}  // namespace rankwright::report
